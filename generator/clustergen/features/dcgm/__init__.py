"""Metrics of GPUs: DCGM and its exporter."""
