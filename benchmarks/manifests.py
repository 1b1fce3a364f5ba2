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


def of_types(types: int, weight: int) -> str:
    """So many node types of four nodes each; `weight` is that of the first."""
    kinds = "\n".join(f"  t{n}: {{system: dgx-h100, weight: {n + 2 if n else weight}}}" for n in range(types))
    entries = "\n".join(
        f'  - {{name: "t{n}n[1-4]", type: t{n}, address: "10.{n // 250}.{n % 250}.[1-4]"}}' for n in range(types)
    )
    lines = large(256, 1).splitlines()
    kind = next(n for n, line in enumerate(lines) if line.startswith("  h0:"))
    entry = next(n for n, line in enumerate(lines) if "type: h0" in line)
    return "\n".join([*lines[:kind], kinds, *lines[kind + 1 : entry], entries, *lines[entry + 1 :], ""])


def weighed(manifest: str, each: int) -> str:
    """The nodes of `large` with one type, each so many with a weight of their own."""
    head, _, rest = manifest.partition('  - {name: "gpu[')
    nodes = int(rest.partition("]")[0].partition("-")[2])
    entries = "\n".join(
        f'  - {{name: "gpu[{first + 1:05d}-{first + each:05d}]", type: h0,'
        f' address: "10.{first // 256}.1.[{first % 256}-{first % 256 + each - 1}]", weight: {first // each + 2}}}'
        for first in range(0, nodes, each)
    )
    return f"{head}{entries}\n{rest.partition(chr(10))[2]}"
