"""Metrics of machines: the node exporter of every node."""
