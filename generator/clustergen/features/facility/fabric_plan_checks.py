"""The planned InfiniBand networks, cable by cable in ibsim: a real opensm brings them up and names their topology."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence

import yaml

from clustergen.verify.check import Check, Trial, paths
from clustergen.verify.files import Entry
from clustergen.verify.programs import Answer, NotHere, ask, find
from clustergen.verify.rows import Row

_MOST_CABLES = 8_192
"""opensm takes some seconds for as many, and minutes for 50,000."""
_End = tuple[str, str]
_Link = tuple[_End, _End]
_SCRIPT = r"""
cd /tmp
export OSM_TMP_DIR=/tmp OSM_CACHE_DIR=/tmp SIM_HOST=$1
sleep 150 | ibsim -s -N "$2" -S "$2" -P "$3" /srv/fabric/net >/tmp/ibsim.log 2>&1 &
until grep -q 'simulator ready' /tmp/ibsim.log || ! kill -0 $! 2>/dev/null; do sleep 0.02; done
log=/run/clustergen/log
timeout -k 2 140 ibsim-run "$program" -R ftree,updn -o -f $log -D 0x7 >/run/clustergen/said 2>&1
status=$?
kill %1
exit $status
"""


def _networks(tables: Mapping[str, Entry]) -> Mapping[str, list[_Link]]:
    """Network → its cables, of networks all of whose switches have InfiniBand ports. Raises KeyError, ValueError."""
    types = {}
    for path, entry in tables.items():
        if path.startswith("facility/device-types/"):
            document = yaml.safe_load(entry.content)
            types[document["manufacturer"], document["model"]] = {
                port["type"] for port in document.get("interfaces", ()) if not port.get("mgmt_only")
            }
    switches = {
        row["name"]: types.get((row["manufacturer"], row["device_type"]), set())
        for row in csv.DictReader(tables["facility/devices.csv"].text.splitlines())
        if row["role"].endswith("switch")
    }
    networks: dict[str, list[_Link]] = {}
    others: set[str] = set()
    for row in csv.DictReader(tables["facility/cables.csv"].text.splitlines()):
        network = row["description"].partition(";")[0]
        ends = [(row[f"side_{side}_device"], row[f"side_{side}_name"]) for side in "ab"]
        networks.setdefault(network, []).append((ends[0], ends[1]))
        ports = switches.get(ends[1][0], set())
        if not ports or not all(kind.startswith("infiniband") for kind in ports):
            others.add(network)
    return {network: links for network, links in networks.items() if network not in others}


def _net(links: Sequence[_Link]) -> tuple[str, Sequence[str], int]:
    """A net file of ibsim, its adapters and how many ports it has. Each port of a node is an adapter of its own."""
    switches = {b[0] for _, b in links}
    ports: dict[str, list[tuple[str, int]]] = {}
    for link in links:
        one, two = (device if device in switches else f"{device} {port}" for device, port in link)
        first, second = (len(ports.setdefault(device, [])) + 1 for device in (one, two))
        ports[one].append((two, second))
        ports[two].append((one, first))
    lines = []
    for device, others in ports.items():
        lines.append(f'Switch {len(others)} "{device}"' if device in switches else f'Hca {len(others)} "{device}"')
        lines += [f'[{number}] "{other}"[{port}]' for number, (other, port) in enumerate(others, 1)]
        lines.append("")
    adapters = [device for device in ports if device not in switches]
    return "\n".join(lines), adapters, sum(map(len, ports.values()))


def _complaints(answer: Answer) -> Iterator[str]:
    text = answer.notes.get("said", "") + answer.notes.get("log", "")
    if "SUBNET UP" not in text:
        yield "opensm did not bring up the simulated fabric"
        yield from text.splitlines()[-5:]


def _note(network: str, links: Sequence[_Link], answer: Answer) -> str:
    lower, upper = ({link[side][0] for link in links} for side in (0, 1))
    if lower.isdisjoint(upper):
        topology = "no switch above another"
    elif "has been identified as FatTree" in answer.notes.get("log", ""):
        topology = "opensm identifies a fat tree"
    else:
        topology = "no fat tree for opensm, which routes it by updn"
    return f"{network}: {len(links):,} cables; {topology}"


def _ask(check: Check, trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
    try:
        networks = _networks(trial.tree.entries)
    except (KeyError, TypeError, ValueError, AttributeError, csv.Error, yaml.YAMLError) as err:
        yield check.row("failed", entries, [f"the tables cannot be read: {' '.join(str(err).split())}"])
        return
    if not networks:
        yield check.row(
            "no parser", entries, ["None of these cables is InfiniBand, and nothing here simulates Ethernet."]
        )
    for network, links in networks.items():
        if len(links) > _MOST_CABLES:
            yield check.row("no parser", entries, [f"{network}: more than {_MOST_CABLES:,} cables are not simulated"])
            continue
        net, adapters, count = _net(links)
        directory = trial.scratch / "fabric-plan" / network
        directory.mkdir(parents=True)
        (directory / "net").write_text(net, encoding="utf-8")
        try:
            answer = ask(
                find("opensm"),
                _SCRIPT,
                version="$program --version | grep -i opensm",
                arguments=[adapters[0] if adapters else "", str(count + 100), str(count + 100)],
                stand_ins=[(directory, "/srv/fabric")],
            )
        except NotHere as reason:
            yield check.row("not run", entries, [str(reason)])
            continue
        yield check.judged(entries, list(_complaints(answer)), [_note(network, links, answer)], answer.version)


CHECKS = (
    Check(
        name="fabric plan",
        what="machine room: cables of InfiniBand",
        parser="ibsim and opensm",
        proves="opensm brings up a simulated fabric (ibsim) with every cable of the table, and says whether it is a"
        " fat tree. Rates, lengths and media are not part of it.",
        reads=paths("facility/cables.csv"),
        ask=_ask,
    ),
)
