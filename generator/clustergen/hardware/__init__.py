"""What machines print about themselves, as typed facts, and these facts against the cluster that was planned.

`ibnetdiscover` and `lldp` read what the fabric shows; `check` compares it with the plan and with itself.
`discovery` reads what machines print about themselves; `drift` compares it with the manifest.
"""
