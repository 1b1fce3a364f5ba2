"""Sensors and power of nodes: the IPMI exporter asks their BMCs."""
