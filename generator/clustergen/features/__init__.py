"""All that clustergen can configure beside the ground: a package per feature (see `clustergen.feature`)."""
