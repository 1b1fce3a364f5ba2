"""Metrics of Slurm: jobs, nodes and the scheduler."""
