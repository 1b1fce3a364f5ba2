"""IBM Storage Scale (GPFS)."""
