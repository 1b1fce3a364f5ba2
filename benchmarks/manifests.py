"""Large manifests."""

from __future__ import annotations


def large(nodes: int, types: int) -> str:
    """A manifest of so many 8-GPU nodes of so many types; nodes is a multiple of 256 times types."""
    per = nodes // types
    kinds = "\n".join(f"  h{t}: {{system: dgx-h100, weight: {t + 1}}}" for t in range(types))
    entries = []
    for t in range(types):
        first, blocks = t * per + 1, per // 256
        second = f"[{t * blocks}-{(t + 1) * blocks - 1}]" if blocks > 1 else str(t * blocks)
        entries.append(
            f'  - {{name: "gpu[{first:05d}-{first + per - 1:05d}]", type: h{t}, address: "10.{second}.1.[0-255]"}}'
        )
    listed = "\n".join(entries)
    return f"""name: big
os: debian-13
networks:
  management: {{cidr: 10.0.0.0/8, domain: big.test}}
  fabric: {{type: infiniband, rate: NDR}}
node_types:
{kinds}
nodes:
  - {{name: head, type: service, address: 10.255.0.1, roles: [slurm-controller, slurm-accounting, monitoring]}}
{listed}
slurm:
  version: "24.11"
  partitions:
    gpu: {{nodes: all, default: true, max_time: 7-0}}
"""
