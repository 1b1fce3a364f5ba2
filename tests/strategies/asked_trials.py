"""Trials of plans by `clustergen plan --trial`, with the answers of the daemons."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from clustergen.catalogue.versions import SlurmRelease
from clustergen.cli.trial import tried
from clustergen.diff.change import Change
from clustergen.diff.step import Step
from clustergen.render.effects import NONE
from effects.configuration import Configuration, Edit, node, option, partition, split

HOSTS = "10.99.7.10 ctl\n" + "".join(f"10.99.7.1{number} n{number}\n" for number in range(1, 5))


@dataclass(frozen=True)
class Case:
    """Edits of the configuration with what they change, and the steps of the plan."""

    edits: tuple[Edit, ...]
    changes: tuple[Change, ...]
    steps: tuple[Step, ...]
    before: tuple[Edit, ...] = ()
    database: bool = False

    def report(self, _scratch: Path) -> str:
        release = SlurmRelease("24.11")
        old = Configuration("24.11", database=self.database).edited(self.before)
        plan: Any = SimpleNamespace(
            old_release=release,
            release=release,
            changes=self.changes,
            steps=self.steps,
            compute=("n1", "n2", "n3", "n4"),
        )
        text, is_good = tried(plan, old.texts(), old.edited(self.edits).texts(), HOSTS)
        return f"{text}{'good' if is_good else 'not good'}\n"

    def shortened(self, answer: dict[str, Any]) -> dict[str, Any]:
        kept = {
            name: text for name, text in answer["files"].items() if name in ("report", "limits", "limits.restarted")
        }
        files = (
            kept
            if "report" in kept
            else {n: "".join(re.findall(r"(?:fatal|error): .*\n", t)) for n, t in answer["files"].items()}
        )
        return {**answer, "err": "", "files": files}


def _change(kind: str, name: str, key: str, old: str, new: str, file: str = "/etc/slurm/slurm.conf") -> Change:
    return Change(file=file, kind=kind, effects=(NONE,), reason="", name=name, key=key, old=old, new=new)


CASES = {
    "values of all kinds": Case(
        (option(MessageTimeout=20), partition("batch", MaxTime="1-00:00:00"), node(Feature="h200")),
        (
            _change("key", "", "MessageTimeout", "8", "20"),
            _change("partition", "batch", "MaxTime", "2-00:00:00", "1-00:00:00"),
            _change("node", "n[1-4]", "Feature", "h100", "h200"),
            _change("node", "n[1-4]", "NodeAddr", "10.99.7.[11-14]", "10.99.7.[11-14]"),
            _change("key", "", "Prolog", "none", "/etc/slurm/prolog"),
            _change("key", "", "MaxJobCount", "1", "2", file="/etc/slurm/slurmdbd.conf"),
        ),
        (
            Step("drain n1", "n1", "drain", "drain"),
            Step("put a file in its place by hand", None, ""),
            Step("write the files", None, "configure", "files"),
            Step("drain for packages", "n2", "drain", "drain", "packages"),
            Step("scontrol reconfigure", None, "reconfigure", "reconfigure"),
            Step("resume n1", "n1", "resume", "resume"),
        ),
    ),
    "a node leaves without a drain": Case(
        (option(MessageTimeout=20), split("n1")),
        (_change("key", "", "MessageTimeout", "8", "20"),),
        (
            Step("write the files", None, "configure", "files"),
            Step("restart slurmctld", None, "restart", "restart-slurmctld"),
            Step("restart slurmd", "n[2-4]", "restart", "restart-slurmd"),
        ),
    ),
    "files without a step": Case(
        (option(MessageTimeout=20),),
        (_change("key", "", "MessageTimeout", "8", "20"),),
        (Step("write the files", None, "configure", "files"),),
    ),
    "a slurm.conf that stops slurmctld": Case(
        (option(SelectType="select/nothing"),),
        (),
        (
            Step("write the files", None, "configure", "files"),
            Step("restart slurmctld", None, "restart", "restart-slurmctld"),
        ),
    ),
    "a cluster with accounting": Case(
        (partition("batch", MaxTime="1-00:00:00"),),
        (_change("partition", "batch", "MaxTime", "2-00:00:00", "1-00:00:00"),),
        (
            Step("write the files", None, "configure", "files"),
            Step("scontrol reconfigure", None, "reconfigure", "reconfigure"),
        ),
        database=True,
    ),
    "a cluster that does not start": Case((), (), (), before=(option(SelectType="select/nothing"),)),
}
