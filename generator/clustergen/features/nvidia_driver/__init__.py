"""NVIDIA's driver: kernel modules, persistence, fabric manager, power and clocks of GPUs."""
