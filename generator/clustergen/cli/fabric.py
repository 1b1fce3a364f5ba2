"""Compare the real fabric with its plan."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clustergen.cli import output
from clustergen.cli.arguments import STDIN, default_manifest, manifest_path, refuse_standard_input
from clustergen.cli.common import compiled_from, format_option, refuse
from clustergen.cli.complete import code_list, files
from clustergen.cli.exit_codes import INVALID, exit_codes
from clustergen.diagnostics import ClustergenError, printable

if TYPE_CHECKING:
    from clustergen.cluster.model import Cluster
    from clustergen.hardware.findings import Report

FORMATS = ("text", "json", "github", "markdown")
NETWORKS = ("fabric", "storage")
_JSON = ".json"
_MOST_FILES = 20_000


@click.group("fabric")
def command() -> None:
    """Compare the real fabric with its plan."""


@exit_codes("the fabric is as planned", "findings", INVALID, "FILE cannot be read")
@command.command("check")
@click.argument("paths", metavar="[MANIFEST] FILE", nargs=-1, required=True, shell_complete=files)
@click.option(
    "--network",
    type=click.Choice(NETWORKS),
    default="fabric",
    show_default=True,
    help="The network whose cables are compared.",
)
@click.option(
    "--select", multiple=True, metavar="CODES", shell_complete=code_list,
    help="Report these codes only, separated by commas; cable stands for all of cable-*.",
)  # fmt: skip
@click.option(
    "--ignore", multiple=True, metavar="CODES", shell_complete=code_list,
    help="Do not report these codes; of two matches, the longer one decides.",
)  # fmt: skip
@format_option(*FORMATS)
def check(paths: tuple[str, ...], network: str, select: tuple[str, ...], ignore: tuple[str, ...], form: str) -> None:
    """Compare the fabric in FILE with the cables that MANIFEST plans.

    FILE is the output of ibnetdiscover, - for standard input, or a directory of HOST.json files with the output of
    `lldpcli show neighbors -f json` of each host. MANIFEST is ./manifest.yaml by default.

    Reports missing and crossed cables, ports on the wrong rail, missing switches and nodes, links below their rate, and
    what is not in the plan, each with rack, unit and port. Without a plan or switches in the manifest, the fabric is
    compared with itself: the most frequent value is assumed to be intended.
    """
    from clustergen.cli.fabric_report import show
    from clustergen.diagnostics.selection import Selection, codes_in

    if len(paths) > 2:
        raise click.UsageError("name one manifest and one file")
    try:
        selection = Selection(codes_in(select), codes_in(ignore))
    except ValueError as err:
        raise click.UsageError(str(err)) from None
    manifest = manifest_path(Path(paths[0])) if len(paths) == 2 else default_manifest()
    refuse_standard_input(manifest)
    compiled = compiled_from(manifest)
    if not compiled.ok or compiled.cluster is None:
        refuse(compiled, [one for one in compiled.diagnostics if one.severity == "error"])
    report = _report(compiled.cluster, Path(paths[-1]), network).selected(selection.reports)
    show(report, form)
    for line in report.remarks:
        output.remark(printable(line))
    sys.exit(1 if report.diagnostics() else 0)


def _report(cluster: Cluster, path: Path, network: str) -> Report:
    from clustergen.hardware import ibnetdiscover, lldp
    from clustergen.hardware.check import check_infiniband, check_lldp

    if path == STDIN:
        return check_infiniband(cluster, sys.stdin.buffer.read(ibnetdiscover.MOST_BYTES + 1), "stdin", network)
    if path.is_dir():
        outputs = sorted(path.glob(f"*{_JSON}"))
        if not outputs:
            raise ClustergenError(f"{path}: no HOST.json in this directory", "save the output of lldpcli there", 3)
        if len(outputs) > _MOST_FILES:
            raise ClustergenError(f"{path}: more than {_MOST_FILES:,} files")
        return check_lldp(cluster, _Files(outputs, lldp.MOST_BYTES), str(path), network)
    if path.name.endswith(_JSON):
        return check_lldp(cluster, {path.name.removesuffix(_JSON): _content(path, lldp.MOST_BYTES)}, str(path), network)
    return check_infiniband(cluster, _content(path, ibnetdiscover.MOST_BYTES), str(path), network)


class _Files(Mapping[str, bytes]):
    """The files of a directory by host; each is read when it is asked for, and links are not followed."""

    def __init__(self, paths: list[Path], most: int) -> None:
        self._paths = {path.name.removesuffix(_JSON): path for path in paths}  # `stem` differs between Pythons
        self._most = most

    def __getitem__(self, host: str) -> bytes:
        return _content(self._paths[host], self._most, follow_links=False)

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)


def _content(path: Path, most: int, *, follow_links: bool = True) -> bytes:
    """The file, or one byte more than `most` of it: its reader reports that it is too large."""
    from clustergen import regular_file

    parts, room = [], most + 1
    with regular_file.opened(path, follow_links) as (descriptor, _status):
        while room and (part := os.read(descriptor, min(room, 1 << 20))):
            parts.append(part)
            room -= len(part)
    return b"".join(parts)
