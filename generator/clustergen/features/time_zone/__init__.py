"""The nodes' time zone."""
