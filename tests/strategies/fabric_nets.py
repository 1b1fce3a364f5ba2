"""Fabrics of planned cables, right and with planted faults, as ibsim reads them and as ibnetdiscover prints them."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from clustergen import compile as compiler
from clustergen.cluster.model import Cluster
from clustergen.cluster.switches import ports_in
from clustergen.facility.cabling import cables
from clustergen.facility.placement import switches_of

End = tuple[str, int]


@dataclass
class Net:
    """Devices by their description, and links by both ends. Adapters have one port: `gpu1 mlx5_0`."""

    switches: dict[str, int] = field(default_factory=dict)
    """Switch → ports."""
    links: dict[End, End] = field(default_factory=dict)
    """Each end → the other, both ways."""
    rates: dict[End, str] = field(default_factory=dict)
    """Ends whose rate is not 4xNDR."""

    @property
    def adapters(self) -> list[str]:
        return list(dict.fromkeys(device for device, _ in self.links if device not in self.switches))

    def adapters_of(self, host: str) -> list[str]:
        return [name for name in self.adapters if name.partition(" ")[0] == host]

    def copy(self) -> Net:
        return copy.deepcopy(self)

    def join(self, a: End, b: End) -> None:
        self.links[a], self.links[b] = b, a

    def cut(self, end: End) -> End:
        """Takes out the link at an end; the other end."""
        other = self.links.pop(end)
        del self.links[other]
        return other

    def exchange(self, a: End, b: End) -> None:
        """Exchange the links of a and b."""
        one, two = self.cut(a), self.cut(b)
        self.join(a, two)
        self.join(b, one)

    def remove(self, device: str) -> None:
        for end in [end for end in self.links if end[0] == device]:
            if end in self.links:  # a cable may join two ports of one device
                self.cut(end)
        self.switches.pop(device, None)

    def rename(self, names: dict[str, str]) -> None:
        """Other descriptions for some devices."""
        self.switches = {names.get(name, name): ports for name, ports in self.switches.items()}
        self.links = {(names.get(a, a), one): (names.get(b, b), two) for (a, one), (b, two) in self.links.items()}
        self.rates = {(names.get(name, name), port): rate for (name, port), rate in self.rates.items()}

    def port_of(self, device: str) -> End:
        """Where an adapter ends."""
        return self.links[device, 1]

    def ibsim(self) -> str:
        """A net file of ibsim. Both ends name each other; a link without both would leave ibsim waiting."""
        return "\n".join(self._ibsim()) + "\n"

    def _ibsim(self) -> Iterator[str]:
        ports: dict[str, list[tuple[int, End]]] = {}
        for (device, port), other in self.links.items():
            ports.setdefault(device, []).append((port, other))
        for device in (*self.switches, *self.adapters):
            kind = f"Switch {self.switches[device]}" if device in self.switches else "Hca 1"
            yield f'{kind} "{device}"'
            for port, (name, number) in sorted(ports.get(device, ())):
                yield f'[{port}] "{name}"[{number}]'
            yield ""

    def discovered(self) -> str:
        """Output of ibnetdiscover; tests with the real one compare it."""
        guids = {name: f"{0x200000 + 0x100 * number:016x}" for number, name in enumerate(self._devices())}
        ids = {name: f"{'S' if name in self.switches else 'H'}-{guids[name]}" for name in guids}
        ports: dict[str, list[tuple[int, End]]] = {}
        for (device, port), other in self.links.items():
            ports.setdefault(device, []).append((port, other))
        lines = ["#", "# Topology file: generated on Sun Nov 22 22:00:00 2026", "#"]
        for device in guids:
            is_switch = device in self.switches
            lines += ["", "vendid=0x2c9", f"{'switch' if is_switch else 'ca'}guid=0x{guids[device]}"]
            if is_switch:
                lines.append(f'Switch\t{self.switches[device]} "{ids[device]}"\t\t# "{device}" base port 0 lid 1 lmc 0')
            else:
                lines.append(f'Ca\t1 "{ids[device]}"\t\t# "{device}"')
            for port, (name, number) in sorted(ports.get(device, ())):
                rate = self.rates.get((device, port)) or self.rates.get((name, number)) or "4xNDR"
                guid = "" if name in self.switches else f"({guids[name]}) "
                if is_switch:
                    lines.append(f'[{port}]\t"{ids[name]}"[{number}]{guid}\t\t# "{name}" lid 7 {rate}')
                else:
                    lines.append(
                        f'[{port}]({guids[device]}) \t"{ids[name]}"[{number}]\t\t# lid 7 lmc 0 "{name}" lid 1 {rate}'
                    )
        return "\n".join(lines) + "\n"

    def _devices(self) -> list[str]:
        return [*self.switches, *self.adapters]


def planned_net(cluster: Cluster, network: str = "fabric") -> Net:
    """The network as it is when every cable of the plan is in its place."""
    switches = {switch.name: switch for switch in switches_of(cluster)[network]}
    kinds = {host: group.type for group in cluster.groups for host in group.hosts}
    net = Net()
    for cable in cables(cluster):
        if cable.network != network:
            continue
        ends = []
        for end in (cable.a, cable.b):
            if end.device in kinds:
                ports = sorted(ports_in(kinds[end.device], network).items())
                device = ports[end.number - 1][1].device if ports else "mlx5_0"
                ends.append((f"{end.device} {device}", 1))
                continue
            switch = switches[end.device]
            plugs = switch.nics_per_port if switch.nodes else 1  # a split port is one port for each plug
            number = (end.number - 1) * plugs + 1
            while (end.device, number) in net.links:
                number += 1
            net.switches[end.device] = max(net.switches.get(end.device, 0), number, (switch.ports or 0) * plugs)
            ends.append((end.device, number))
        net.join(*ends)
    return net


def cluster_of(manifest: Path | str, directory: Path | None = None) -> Cluster:
    """The cluster of a manifest, given as a path or as text. Fails where it is invalid."""
    if isinstance(manifest, Path):
        compiled = compiler.validate(manifest)
    else:
        compiled = compiler.validate(Path("manifest.yaml"), "manifest.yaml", manifest.encode())
    assert compiled.ok, compiled.diagnostics
    assert compiled.cluster is not None
    return compiled.cluster


def superpod(nodes: int, *, more: str = "", plan: str = "leaf: qm9700") -> str:
    """A manifest of so many DGX H100 with a planned rail-optimised fabric."""
    return f"""\
name: pod
os: ubuntu-22.04
networks:
  management: {{cidr: 10.0.0.0/16}}
  fabric:
    type: infiniband
    rate: NDR
    plan: {{{plan}}}
node_types:
  h100: {{system: dgx-h100}}
nodes:
  - {{name: head, type: service, address: 10.0.0.1, roles: [slurm-controller]}}
  - {{name: "gpu[0001-{nodes:04}]", type: h100, address: "10.0.[1-{-(-nodes // 128)}].[11-{10 + min(nodes, 128)}]"}}
slurm: {{version: "24.11"}}
{more}"""
