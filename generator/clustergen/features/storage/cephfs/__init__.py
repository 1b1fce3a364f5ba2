"""CephFS: clients of the kernel and of FUSE, and services for cephadm."""
