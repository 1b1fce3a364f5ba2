"""Records of features in the resolved cluster, one module per feature: `cluster.of(Facility)` returns one."""
