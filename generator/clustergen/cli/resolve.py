"""Print the cluster that a manifest means, with all defaults and derived values."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from clustergen.cli import output
from clustergen.cli.arguments import manifest_argument
from clustergen.cli.common import compiled_from, complain, refuse
from clustergen.cli.exit_codes import UNREADABLE, exit_codes
from clustergen.compile import Compiled
from clustergen.diagnostics import ClustergenError, did_you_mean, exit_code
from clustergen.diagnostics.document import json_document
from clustergen.feature import requirement

if TYPE_CHECKING:
    from clustergen.cluster.model import Cluster

_UNRESOLVED = "without what is wrong there is no cluster"

_OTHER_NAMES = {
    "nodes": "write groups, which has the entries of nodes",
    "networks": "write fabric, management_network, bmc_network or storage_network",
}
"""Sections of the manifest that the model has under other names."""


@exit_codes("printed", "", "MANIFEST is invalid, or the cluster has no such section", UNREADABLE)
@click.command("resolve")
@manifest_argument
@click.option("--format", "form", type=click.Choice(("yaml", "json")), default="yaml", show_default=True)
@click.option("--section", metavar="NAME", help="Print one section, as node_types.")
@click.option("--origin", is_flag=True, help="Print where each value comes from: manifest, default or catalogue.")
@click.option("--partial", is_flag=True, help="Print an invalid manifest's cluster as far as it can be resolved.")
def command(manifest: Path, form: str, section: str | None, origin: bool, partial: bool) -> None:
    """Print the cluster that MANIFEST means: every default, every derived value, every fact of the catalogue.

    The output is what all files are rendered from, for scripts and generators of your own; host lists are folded.
    `clustergen schema --resolved` prints its JSON Schema. With --origin, there is a line for each value, with its path
    and what it depends on.
    """
    from clustergen.cluster.document import document, section_names

    if origin and partial:
        raise click.UsageError("--origin is for valid manifests: leave out --partial")
    compiled = compiled_from(manifest)
    has_secret = any(diagnostic.code == "secret-in-manifest" for diagnostic in compiled.diagnostics)
    cluster = compiled.cluster or compiled.meant or compiled.remainder
    if cluster is None or not (compiled.ok or partial) or has_secret:
        if partial:
            output.remark("nothing is printed: " + ("the manifest contains a secret" if has_secret else _UNRESOLVED))
        refuse(compiled, compiled.diagnostics)
    names = section_names(cluster)
    if section is not None and section not in names:
        hint = _OTHER_NAMES.get(section) or _of_slurm(cluster, section) or did_you_mean(section, names)
        hint = hint or f"name one of {', '.join(names)}"
        raise ClustergenError(f"the cluster has no section '{section}'", hint, exit_code=2)
    if origin:
        output.findings(_origins(compiled, section, form))
        return
    fields = document(cluster, section)
    if not compiled.ok:
        from clustergen.explain.fields import dotted

        complain([compiled], compiled.diagnostics, compiled.diagnostics)
        fields = {"is_partial": True, "left_out": [dotted(path) for path in compiled.left_out], **fields}
    output.findings(json_document(fields) if form == "json" else _yaml(fields))
    if not compiled.ok:
        sys.exit(exit_code(compiled.diagnostics))


def _yaml(fields: Mapping[str, object]) -> str:
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    text: str = yaml.dump(fields, Dumper=dumper, default_flow_style=None, sort_keys=False, width=110)
    return text


def _of_slurm(cluster: Cluster, section: str) -> str | None:
    """The hint where only a cluster with Slurm has the section, and this one has none."""
    from clustergen.cluster.resolve import record_types, section_name

    modules = {section_name(kind): kind.__module__ for kind in record_types()}
    module = modules.get(section, "")
    if cluster.meets("slurm") or not (module.startswith("clustergen.cluster.slurm.") or requirement(module)):
        return None
    return 'the cluster has no Slurm: add slurm: {version: "24.11"} and the role slurm-controller'


def _origins(compiled: Compiled, section: str | None, form: str) -> str:
    from clustergen.explain.origin import json_of_origins, origins, text_of_origins

    values = origins(compiled, section)
    return json_of_origins(values) if form == "json" else text_of_origins(values)
