"""PDUs and UPS: the SNMP exporter asks them."""

from __future__ import annotations

AREA = "monitoring"
