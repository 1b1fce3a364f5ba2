"""UCX and Open MPI: the devices and networks that jobs use beside NCCL."""
