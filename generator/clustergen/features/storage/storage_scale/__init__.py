"""IBM Storage Scale (GPFS): clients, whose own daemon mounts it."""
