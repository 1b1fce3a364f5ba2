"""Prometheus: rules, targets and runbooks on the monitoring nodes."""
