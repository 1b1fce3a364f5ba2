"""NCCL: environment variables of all jobs, and its topology file."""
