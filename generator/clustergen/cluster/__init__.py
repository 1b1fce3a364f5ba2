"""The cluster as meant: the manifest with everything derived and every default filled in; what output is made from."""
