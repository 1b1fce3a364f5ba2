"""Central logs: every node sends its log to collectors."""
