"""The fabric on the hosts: RDMA modules and names of devices, interfaces by rail, alerts on ports."""
