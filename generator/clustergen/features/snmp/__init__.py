"""PDUs and UPS: the SNMP exporter asks them."""
