"""Local disks of the nodes."""
