"""Grafana with dashboards of this cluster."""
