"""Ports of the cluster's services: firewalld opens them, and nftables closes all others."""
