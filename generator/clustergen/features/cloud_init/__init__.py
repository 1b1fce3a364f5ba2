"""Seeds of cloud-init for the first boot: network, name and user data of each node."""

from __future__ import annotations

AREA = "provisioning"
