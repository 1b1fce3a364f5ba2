"""JupyterHub loads its settings, and visudo reads what sudo allows it."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable, Sequence

from clustergen.features.notebooks.hub import hub_directory, load, version
from clustergen.render.engine import program_text
from clustergen.verify.check import Check, Reader, Trial, paths
from clustergen.verify.files import Entry
from clustergen.verify.rows import Row

COMPONENT = "login"
_VALUES = "/etc/clustergen/notebooks.json"
_READ = 'status=0; for file; do "$program" -cf "$file" >/dev/null || status=1; done; exit "$status"'


def _settings(check: Check, trial: Trial, entries: Sequence[Entry]) -> Iterable[Row]:
    """Each values file with the program of this package, not that of the tree, which would run here."""
    if not hub_directory().is_dir():
        yield check.row("not run", entries, ["JupyterHub is not installed: run clustergen setup notebooks"])
        return
    program = program_text("notebooks/jupyterhub_config.py")
    for entry in entries:
        directory = trial.scratch / "notebooks" / entry.path.replace("/", "_")
        directory.mkdir(parents=True, exist_ok=True)
        values, settings = directory / "notebooks.json", directory / "jupyterhub_config.py"
        values.write_bytes(entry.content)
        settings.write_text(program.replace(_VALUES, str(values)), encoding="utf-8")
        complaints: list[str] = []
        try:
            answer = load(settings)
            complaints += map(str, answer["lines"])  # type: ignore[call-overload]
            if not answer["allowed_groups"]:
                complaints.append("nobody may log in")
        except (ValueError, subprocess.TimeoutExpired) as err:
            complaints.append(str(err))
        yield check.judged([entry], complaints, (), version())


CHECKS = (
    Check(
        name="jupyterhub",
        what="notebooks: settings of the hub",
        parser="jupyterhub",
        proves="JupyterHub loads its settings with the values of the tree, and knows each of them. It is not started.",
        reads=paths(_VALUES),
        ask=_settings,
    ),
    Check(
        name="sudoers",
        what="sudo: rules",
        parser="visudo -c",
        proves="visudo accepts every rule. Users and groups need not exist.",
        reads=paths("/etc/sudoers.d/*"),
        ask=Reader("visudo", '"$program" --version | head -1', _READ, newest=True),
    ),
)
