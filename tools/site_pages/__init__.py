"""Builds the pages of the documentation site: what a forge shows as it is, plus the pages that follow from tables."""
