"""NFS: clients, servers with exports and ZFS pools, failover pairs."""
