"""Kernel settings of all nodes, by sysctl."""
