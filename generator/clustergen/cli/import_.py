"""Create a manifest from existing Slurm configuration files."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from clustergen import regular_file
from clustergen.catalogue.operating_systems import operating_systems
from clustergen.cli import output as streams
from clustergen.cli.arguments import GuessedChoice, slurm_argument
from clustergen.cli.common import format_option
from clustergen.cli.complete import rows
from clustergen.cli.exit_codes import exit_codes
from clustergen.cli.init import SCHEMA
from clustergen.cli.writing import link_below, write_all
from clustergen.diagnostics import ClustergenError, printable
from clustergen.importer.directory import ImportResult, import_directory
from clustergen.importer.report import as_json, as_text
from clustergen.manifest.schema import json_schema_text
from clustergen.regular_file import reason_of

SOURCE_OPTIONS = (
    click.option(
        "--slurm-version",
        "version",
        metavar="V",
        shell_complete=rows("slurm"),
        help="Slurm release, e.g. 24.11; default: detected from the keys.",
    ),
    click.option(
        "--os",
        "os",
        type=GuessedChoice(tuple(operating_systems())),
        help="Operating system of the nodes.",
    ),
    click.option(
        "--hosts",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help="Read addresses that slurm.conf lacks from this file, e.g. /etc/hosts.",
    ),
    click.option(
        "--accounts",
        type=click.Path(path_type=Path),
        multiple=True,
        help="Read accounts and QOS from `sacctmgr dump` or `sacctmgr -P show qos`; can be repeated.",
    ),
    click.option("--force", is_flag=True, help="Overwrite existing files."),
)


def source_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The options of verbs that read Slurm's files and write a manifest."""
    for option in reversed(SOURCE_OPTIONS):
        function = option(function)
    return function


@exit_codes(
    "the same meaning",
    "differences, or Slurm rejects the original or the rendered files, or a node",
    "the manifest is not valid yet, or the usage is wrong",
    "PATH cannot be read, or -o cannot be written",
)
@click.command("import")
@slurm_argument
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), help="Write the manifest to this file; default: stdout."
)
@source_options
@click.option("--register", is_flag=True, help="Let a node of each NodeName line register with a real slurmctld.")
@format_option("text", "json")
def command(
    path: Path,
    output: Path | None,
    version: str | None,
    os: str | None,
    hosts: Path | None,
    accounts: tuple[Path, ...],
    register: bool,
    force: bool,
    form: str,
) -> None:
    """Create a manifest from PATH: a directory with slurm.conf and related files, or a slurm.conf.

    The manifest is rendered, and the result is compared with the original files by meaning. Scripts and files without
    keys, such as plugstack.conf, are copied to site/ beside the manifest.

    --register starts the daemons of that release in a sandbox, as clustergen lint --register does, and reports nodes of
    the original files that slurmctld refuses.
    """
    result = import_directory(path, version=version, os=os, hosts=hosts, accounts=accounts, register=register)
    if output is not None:
        write_result(result, output, force)
    for line in result.remarks if form == "text" else ():
        streams.remark(printable(line))
    if form == "json":
        streams.findings(as_json(result, str(output) if output else None))
    elif output is None:  # the manifest is the data: the report goes beside it
        streams.findings(result.text)
        click.echo(as_text(result), nl=False, err=True)
        if result.files:
            streams.remark(f"With -o, these files would be written, too: {printable(', '.join(sorted(result.files)))}")
    else:
        streams.findings(as_text(result))
        more = f", {', '.join(sorted(result.files))}" if result.files else ""
        streams.remark(printable(f"{output}: written{more}. Next: clustergen validate {output}"))
    sys.exit(result.exit_code)


def write_result(result: ImportResult, output: Path, force: bool) -> None:
    """The manifest, its schema and the site's files: all, or nothing where one of them is there or is a link."""
    directory = output.parent
    files = {output: result.text.encode("utf-8"), directory / SCHEMA: json_schema_text().encode("utf-8")}
    files |= {directory / name: content for name, content in result.files.items()}
    for path in files:
        link = link_below(directory, path)
        if link is not None:
            raise ClustergenError(f"{link}: refusing to write through a symbolic link", hint="choose another -o")
    existing = [str(path) for path, content in files.items() if os.path.lexists(path) and not _holds(path, content)]
    if existing and not force:
        raise ClustergenError(f"{', '.join(existing)}: already exists", hint="choose another -o, or use --force")
    try:
        write_all(files, programs={directory / name for name in result.programs})
    except OSError as err:
        raise ClustergenError(f"{err.filename or output}: {reason_of(err)}", exit_code=3) from None


def _holds(path: Path, content: bytes) -> bool:
    try:
        return regular_file.read(path, len(content)) == content
    except OSError:
        return False
