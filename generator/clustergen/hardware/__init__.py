"""Output of machines about themselves, as typed facts, and its comparison with the planned cluster.

`ibnetdiscover` and `lldp` read what the fabric shows; `check` compares it with the plan and with itself.
`discovery` reads what machines print about themselves; `drift` compares it with the manifest.
"""
