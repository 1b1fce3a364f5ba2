"""Gets the programs that `clustergen verify` and `clustergen lab` run, or names what an administrator installs."""
