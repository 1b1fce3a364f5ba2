"""Seeds for cloud-init: it renders the network configuration of a node, and the tools of its system read the result."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from clustergen.features.cloud_init.checks import COMMANDS, VERSION
from clustergen.verify.check import Check, Trial, failure, paths
from clustergen.verify.files import Entry
from clustergen.verify.node_roots import NodeRoot
from clustergen.verify.programs import Answer, NotHere, ask, find
from clustergen.verify.rows import Row

_TABLE = "cloud-init/nodes"
_SEED = "cloud-init/seed.py"

# The module runs without the data of a cloud that this machine may be in.
_CONVERT = r"""
[ ! -e /var/lib/cloud ] || mv /var/lib/cloud /tmp/cloud
say python3 /srv/cloud-init/seed.py --output /tmp/seeds "$1"
cd "/tmp/seeds/$1"
say python3 -c 'import yaml; assert yaml.safe_load(open("meta-data"))["local-hostname"]'
cloud_init schema --schema-type network-config --config-file network-config -- \
  schema --config-file user-data -- \
  devel net-convert -p network-config -k yaml -d /tmp/out -O "$2" -D "$3"
shopt -s nullglob
cp /tmp/out/etc/{netplan,network/interfaces.d,NetworkManager/system-connections}/* /run/clustergen
"""
_NETPLAN = r"""
mkdir -p /tmp/node/etc && cp -r /srv/rendered /tmp/node/etc/netplan && chmod 600 /tmp/node/etc/netplan/*
/usr/libexec/netplan/generate --root-dir /tmp/node && cat /tmp/node/run/systemd/network/*
"""
_IFUPDOWN = '"$program" --no-act --force --verbose --interfaces=/srv/rendered/50-cloud-init --all 2>&1'
_KEYFILES = r"""
for file in /srv/rendered/*; do
  "$program" --offline connection modify connection.permissions "" <"$file" || exit 1
done
"""
# By the end of a file for the same interfaces: form of cloud-init, a system with it, program, package, script.
_FORMS = {
    ".yaml": ("netplan", "ubuntu", "netplan", "netplan.io", _NETPLAN),
    "clustergen-management": ("eni", "debian", "ifup", "ifupdown", _IFUPDOWN),
    ".nmconnection": ("network-manager", "rocky", "nmcli", "network-manager", _KEYFILES),
}


def _form(node: NodeRoot) -> tuple[str, str, str, str, str] | None:
    targets = [target for target in node.files if target.startswith("/etc/clustergen-network/management/")]
    return next((form for end, form in _FORMS.items() if any(target.endswith(end) for target in targets)), None)


def _seeds(check: Check, trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
    """A row for the first node of each document."""
    by_path = {entry.path: entry for entry in entries}
    if missing := {_TABLE, _SEED} - by_path.keys():
        yield check.row("failed", entries, [f"{path} is missing" for path in sorted(missing)])
        return
    table = by_path[_TABLE]
    rows = [line.split() for line in table.text.splitlines() if line and not line.startswith("#")]
    for path, entry in by_path.items():
        if path in (_TABLE, _SEED):
            continue
        name = path.partition("network-config.")[2]
        row = next((row for row in rows if row[1:2] == [name]), [""])
        node = next((node for node in trial.nodes if row[0] in node.hosts), None)
        form = _form(node) if node else None
        files = [entry, table, by_path[_SEED]]
        if form is None:
            yield check.row("failed", files, [f"{path}: no node with these interfaces"])
            continue
        try:
            answer, complaints = _convert(trial, row, form)
            yield check.judged(files, complaints, (), answer.version)
        except NotHere as reason:
            yield check.row("not run", files, [str(reason)])


def _convert(trial: Trial, row: Sequence[str], form: tuple[str, str, str, str, str]) -> tuple[Answer, list[str]]:
    """cloud-init's answer for a node, and what it or the reader of its form complains of. Raises NotHere."""
    kind, distro, reader, package, script = form
    tree, result = (trial.scratch / "cloud-init-seed" / row[0] / name for name in ("tree", "result"))
    _write(tree, {path.rpartition("/")[2]: entry.text for path, entry in trial.tree.entries.items() if _is_ours(path)})
    answer = ask(
        find("cloud-init"),
        COMMANDS + _CONVERT,
        version=VERSION,
        arguments=[row[0], kind, distro],
        stand_ins=[(tree, "/srv/cloud-init")],
    )
    if complaints := failure(answer):
        return answer, complaints
    _write(result, answer.notes)
    applied = ask(
        find(reader),
        script,
        version=f"dpkg-query -W -f '${{Version}}' {package}",
        stand_ins=[(result, "/srv/rendered")],
    )
    complaints = failure(applied)
    for address in row[4:]:
        if not complaints and address != "-" and not re.search(rf"(?<![\w.:]){re.escape(address)}/\d", applied.out):
            complaints = [f"{row[0]}: {address} is not configured"]
    return answer, complaints


def _is_ours(path: str) -> bool:
    return path.startswith("cloud-init/")


def _write(directory: Path, texts: Mapping[str, str]) -> None:
    directory.mkdir(parents=True)
    for name, text in texts.items():
        (directory / name).write_text(text, encoding="utf-8")


COMPONENT = "host"
CHECKS = (
    Check(
        name="cloud-init seed",
        what="first boot: network configuration",
        parser="cloud-init",
        proves="For a node of each document, cloud-init's schema has every key and value, and cloud-init writes the"
        " files of the node's system, which netplan, ifup or NetworkManager read with the addresses of the node. No"
        " node boots.",
        reads=paths("cloud-init/network-config.*", _TABLE, _SEED),
        ask=_seeds,
    ),
)
