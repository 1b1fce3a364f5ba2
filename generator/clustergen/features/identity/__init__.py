"""Users of an LDAP directory: SSSD and PAM on all nodes, who may log in where, and subordinate IDs of containers."""

from __future__ import annotations

AREA = "identity"
