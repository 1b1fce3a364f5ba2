"""The comparison as a whole: reads the file, finds the plan's devices in it, and reports what differs."""

from __future__ import annotations

from collections.abc import Mapping

from clustergen.cluster.model import Cluster
from clustergen.diagnostics import Diagnostic, Place, quote
from clustergen.diagnostics.words import counted
from clustergen.hardware import ibnetdiscover, lldp
from clustergen.hardware.against_plan import differences
from clustergen.hardware.expected import Expected, expected
from clustergen.hardware.findings import Group, Item, Report
from clustergen.hardware.matching import Matches, match
from clustergen.hardware.model import ADAPTER, SWITCH, Facts
from clustergen.hardware.names import is_aggregation
from clustergen.hardware.pairing import Pairing
from clustergen.hardware.symmetry import Symmetry
from clustergen.records import replace


def check_infiniband(cluster: Cluster, raw: bytes, file: str, network: str = "fabric") -> Report:
    """Compares output of ibnetdiscover with the plan of a network, or with itself where there is no plan."""
    facts, reading = ibnetdiscover.read(raw, file)
    section = cluster.networks.get(network)
    if facts is None and section and section.type != "infiniband":  # its switches answer lldpd alone
        reading = [replace(one, hint=f"networks.{network} is {section.type}: {lldp.HINT}") for one in reading]
    return _report(facts, reading, expected(cluster, network), file)


def check_lldp(cluster: Cluster, files: Mapping[str, bytes], file: str, network: str = "fabric") -> Report:
    """The same for the neighbours that lldpd of each host names; `files` by host."""
    plan = expected(cluster, network)
    facts, reading = lldp.read(files, file, plan.hosts)
    if facts is not None and (silent := [host for host in plan.adapters if host not in facts.sources]):
        message = f"no file has the neighbours of {counted(len(silent), 'node')}: {', '.join(silent[:20])}"
        reading.append(Diagnostic.of("discovery-incomplete", Place(file), message, "collect the missing files"))
    return _report(facts and _relevant(facts, plan), reading, plan, file)


def _relevant(facts: Facts, plan: Expected) -> Facts:
    """Without the links of other networks: lldpd reports every interface of a node, and the management ports."""
    planned = {name for ports in plan.adapters.values() for names in ports for name in names}
    links = []
    for link in facts.links:
        nodes = [end for end in (link.a, link.b) if facts.devices[end.device].kind == ADAPTER]
        others = [end for end in (link.a, link.b) if facts.devices[end.device].kind == SWITCH]
        is_planned = any(end.device.partition(" ")[2] in planned for end in nodes)
        if is_planned or any(end.device in plan.rails for end in others) or not nodes:
            links.append(link)
    devices = {end.device: facts.devices[end.device] for link in links for end in (link.a, link.b)}
    return replace(facts, links=tuple(links), devices=devices)


def _report(facts: Facts | None, reading: list[Diagnostic], plan: Expected, file: str) -> Report:
    if facts is None:
        return Report(file, tuple(reading), (), ())
    remarks = [_size(facts)]
    symmetry = Symmetry(facts, plan.least_gbit)
    if not plan.cables:
        rate = f" and its rate, {plan.least_gbit:g} Gb/s" if plan.least_gbit else ""
        remarks.append(
            f"the manifest plans no cables of networks.{plan.network}: compared with itself{rate or ' alone'}"
        )
        return Report(file, tuple(reading), tuple(symmetry.groups()), tuple(remarks))
    matches = match(facts, plan)
    if not matches.switches and not any(adapter.device in plan.adapters for adapter in matches.adapters.values()):
        message = "no node and no switch of the plan appears: this is another fabric, or its names are others"
        hint = "check that the file is of this cluster; below, the fabric is compared with itself"
        other = Group("fabric-mismatch", "", hint, (Item(message),))
        return Report(file, tuple(reading), (other, *symmetry.groups()), tuple(remarks))
    remarks.append(_method(facts, plan, matches))
    pairs = Pairing(facts, plan, matches)
    if pairs.has_other_port_names:
        remarks.append("the fabric names its ports in another way than the plan: cables are compared by device alone")
    right = f"{len(pairs.right):,} of {counted(len(plan.cables), 'planned cable')} are linked as planned"
    groups = (*differences(pairs), *symmetry.duplicates())
    return Report(file, tuple(reading), groups, tuple(remarks), right)


def _size(facts: Facts) -> str:
    switches = sum(1 for device in facts.devices.values() if device.kind == SWITCH)
    adapters = sum(1 for device in facts.devices.values() if device.kind == ADAPTER and not is_aggregation(device.name))
    return (
        f"{counted(switches, 'switch')}, {counted(adapters, 'adapter')},"
        f" {counted(len(facts.links), 'link')} in the file"
    )


def _method(facts: Facts, plan: Expected, matches: Matches) -> str:
    by_name = len(matches.switches) - len(matches.by_structure)
    how = [f"{by_name:,} by name"] if by_name else []
    if matches.by_structure:
        names = [f"{quote(facts.devices[one].name)} is {matches.switches[one]}" for one in matches.by_structure]
        names.sort()
        shown = ", ".join(names[:4]) + (" …" if len(names) > 4 else "")
        how.append(f"{len(names):,} by what they are linked with ({shown})")
    total = counted(len(plan.rails), "switch")
    return f"{len(matches.switches):,} of {total} of the plan recognised: {', '.join(how) or 'none'}"
