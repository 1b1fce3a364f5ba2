"""IMEX: GPU memory that jobs share across the nodes of an NVLink domain."""
