"""MIG: GPUs that nvidia-mig-parted splits before slurmd counts them."""
