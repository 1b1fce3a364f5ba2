"""Compute nodes that fetch the tree from git and apply it to themselves, from their first boot on."""
