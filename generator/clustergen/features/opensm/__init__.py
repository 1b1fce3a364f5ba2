"""The InfiniBand subnet manager on nodes, and none on any other node."""
