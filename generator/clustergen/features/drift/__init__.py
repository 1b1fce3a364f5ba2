"""A timer on a controller that compares the machines with the manifest."""
