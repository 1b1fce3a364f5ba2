"""/etc/hosts, with all nodes by all their addresses."""
