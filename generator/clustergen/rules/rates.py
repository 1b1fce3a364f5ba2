"""Rates of networks, and the ports that are to reach them."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.cluster.model import Cluster
from clustergen.cluster.networks import Fabric
from clustergen.diagnostics import Finding, ManifestPath, did_you_mean
from clustergen.manifest.hardware import OwnCatalogue
from clustergen.units import BitRate, ByteRate, UnitError


def technology(fabric: Fabric) -> str:
    return "infiniband" if fabric.type == "infiniband" else "ethernet"


def rate_words(fabric: Fabric) -> str:
    """`HDR, 200 Gb/s`, or the rate alone where it is a number already."""
    from clustergen.catalogue.hardware import link_rate

    rate = fabric.rate or ""
    named = link_rate(rate)
    return f"{named.name}, {named.gbit} Gb/s" if named else rate


def rates_of_networks(cluster: Cluster) -> Iterator[Finding]:
    for name in ("management", "bmc", "fabric", "storage"):
        network = cluster.networks.get(name)
        if network is not None and network.rate is not None:
            yield from _rate(("networks", name, "rate"), network.rate, network.type == "infiniband")


def rates_of_switches(_: Cluster, section: OwnCatalogue) -> Iterator[Finding]:
    for name, switch in section.switches.items():
        yield from _rate(("catalogue", "switches", name, "rate"), switch.rate)


def _rate(path: ManifestPath, text: str, is_infiniband: bool = False) -> Iterator[Finding]:
    from clustergen.catalogue.hardware import link_rate, link_rates

    if link_rate(text) is not None:
        return
    try:
        BitRate.parse(text)
    except UnitError as err:
        number = text[:1].isdigit()
        names = (
            _with_number(text)
            or did_you_mean(text, link_rates())
            or "write a rate name, such as NDR, or a bit rate, such as 200Gb/s"
        )
        message = str(err) if number else f"'{text}' is not a rate"
        hint = (_bits_or_bytes(text) or err.hint) if number else names
        name = _infiniband_rate(text) if is_infiniband else None
        yield Finding("rate-malformed", path, message, f"write {name} or {text}Gb/s" if name else hint)


def _with_number(text: str) -> str | None:
    """A hint for a rate with its own number behind it: `NDR400` is NDR."""
    from clustergen.catalogue.hardware import link_rates

    rows = link_rates().values()
    name = next((row.name for row in rows if text.upper() == f"{row.name}{row.gbit:g}"), None)
    return f"write {name}" if name else None


def _infiniband_rate(number: str) -> str | None:
    """The name of InfiniBand's rate of that many Gb/s, the first of the table: 200 is HDR and not NDR200."""
    from clustergen.catalogue.hardware import link_rates

    rows = (row for row in link_rates().values() if row.fabric == "infiniband")
    return next((row.name for row in rows if f"{row.gbit:g}" == number), None)


def _bits_or_bytes(text: str) -> str | None:
    """A hint for a rate with an upper-case B, which counts bytes."""
    try:
        return f"write {BitRate.parse(text.replace('B', 'b'))}, or {ByteRate.parse(text).to_bits()} if bytes are meant"
    except UnitError:
        return None


def rate_of_other_fabric(cluster: Cluster) -> Iterator[Finding]:
    from clustergen.catalogue.hardware import link_rate

    fabric = cluster.networks.fabric
    named = link_rate(fabric.rate) if fabric and fabric.rate else None
    if fabric and named and named.fabric not in (technology(fabric), ""):
        yield Finding(
            "rate-of-other-fabric",
            ("networks", "fabric", "rate"),
            f"{named.name} is an {named.fabric} rate, but the fabric is {fabric.type}",
            f"write {named.gbit}Gb/s for the same speed",
        )


def nic_too_slow(cluster: Cluster) -> Iterator[Finding]:
    fabric = cluster.networks.fabric
    rate = fabric.rate_gbit if fabric else None
    if rate is None or fabric is None:
        return
    for kind, resolved in {group.type.name: group.type for group in cluster.compute}.items():
        named = rate_words(fabric)
        for index, port in enumerate(resolved.ports):
            if port.network == "fabric" and port.max_gbit is not None and port.max_gbit < rate:
                stated = "nics" in resolved.stated
                yield Finding(
                    "nic-too-slow",
                    ("node_types", kind, "nics", index, "model") if stated else ("node_types", kind, "system"),
                    f"{port.device} of '{kind}' runs at {port.max_gbit:g} Gb/s, but the fabric's rate is {named}",
                    "use faster NICs or a lower rate: jobs run at the speed of the slowest port"
                    if stated
                    else f"list your ports under node_types.{kind}.nics if they are faster",
                )
                break
