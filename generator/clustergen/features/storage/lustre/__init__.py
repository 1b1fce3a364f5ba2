"""Lustre: LNet and clients, layouts, targets on servers."""
