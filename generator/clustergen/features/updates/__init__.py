"""Packages that keep their version, and security updates that nodes install by themselves."""
