"""Alertmanager: who receives which alerts."""
