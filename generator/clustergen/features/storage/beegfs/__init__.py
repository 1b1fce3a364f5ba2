"""BeeGFS 7.4 and 8: clients, servers, quotas."""
