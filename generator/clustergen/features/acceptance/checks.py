"""Files of acceptance/: ReFrame loads its configuration, and our test with every gate."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from clustergen.hostlist import expand
from clustergen.verify.check import Check, Trial, paths
from clustergen.verify.files import Entry
from clustergen.verify.programs import TIMEOUT
from clustergen.verify.reframe import START, VERSION, reframe_directory
from clustergen.verify.rows import Row

_COLLECTION = "ansible_collections.clustergen.cluster"
_RELATIONS = ("least", "most", "equal")


def _test_module() -> Path | None:
    """Our test for ReFrame, which lies in the collection."""
    spec = importlib.util.find_spec(_COLLECTION)
    for place in spec.submodule_search_locations or () if spec else ():
        if (path := Path(place) / "roles/accept/files/gates.py").is_file():
            return path
    return None


def _floor_complaints(document: dict[str, Any]) -> Iterator[str]:
    types = {name: set(expand(entry["hosts"])) for name, entry in document["types"].items()}
    for gate in document["gates"]:
        if not types.get(gate["type"]):
            yield f"{gate['name']}: node type {gate['type']} has no hosts"
        for floor in gate["floors"]:
            if floor["relation"] not in _RELATIONS or floor["value"] < 0:
                yield f"{gate['name']}: {floor['metric']} has no bound"
            elif floor["relation"] == "least" and not floor["value"]:
                yield f"{gate['name']}: {floor['metric']} has a floor of 0, which everything passes"


def _listed(directory: Path, settings: Path, module: Path, document: dict[str, Any]) -> tuple[list[str], int]:
    """ReFrame's complaints, and how many tests it lists: one job for each gate."""
    hosts = {name: expand(entry["hosts"]) for name, entry in document["types"].items()}
    jobs = [
        {"gate": gate, "hosts": hosts.get(gate["type"], [])[:1], "seconds": gate["seconds"]}
        for gate in document["gates"]
    ]
    rounds = {"jobs": jobs, "variables": {}, "options": [], "patience": 1, "mpi": document["mpi"], "directory": "."}
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "round.json").write_text(json.dumps(rounds), encoding="utf-8")
    options = ["-C", str(settings), "-c", str(module), "--prefix", str(directory), "--nocolor", "--list"]
    environment = {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        "PYTHONPATH": str(reframe_directory()),
        "PYTHONDONTWRITEBYTECODE": "1",
        "CLUSTERGEN_ACCEPT": str(directory / "round.json"),
        "LC_ALL": "C.UTF-8",
        "TMPDIR": str(directory),  # each start leaves a log there
    }
    done = subprocess.run(
        [sys.executable, "-c", START, *options],
        env=environment,
        cwd=directory,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    lines = (done.stdout + done.stderr).splitlines()
    wrong = [line.strip() for line in lines if "ERROR" in line or "WARNING" in line]
    if done.returncode and not wrong:
        wrong = [line.strip() for line in lines if line.strip()][-3:]
    return wrong, sum(line.startswith("- Gate") for line in lines)


def _ask(check: Check, trial: Trial, entries: Sequence[Entry]) -> Iterable[Row]:
    settings = next((entry for entry in entries if entry.path == "acceptance/reframe.yaml"), None)
    gates = next((entry for entry in entries if entry.path == "acceptance/gates.json"), None)
    if settings is None or gates is None:
        yield check.row("failed", entries, ["gates.json or reframe.yaml is missing"])
        return
    try:
        document = json.loads(gates.content)
        complaints = list(_floor_complaints(document))
    except (ValueError, KeyError, TypeError) as err:
        yield check.row("failed", entries, [f"acceptance/gates.json: {err}"])
        return
    module = _test_module()
    if not reframe_directory().is_dir() or module is None:
        yield check.row("not run", entries, [f"ReFrame {VERSION} is not installed: run clustergen setup reframe"])
        return
    directory = trial.scratch / "acceptance"
    copy = directory / "reframe.yaml"
    directory.mkdir(parents=True, exist_ok=True)
    copy.write_bytes(settings.content)
    try:
        wrong, count = _listed(directory, copy, module, document)
    except subprocess.TimeoutExpired:
        wrong, count = ["no answer in time"], 0
    if not wrong and count != len(document["gates"]):
        wrong = [f"ReFrame lists {count} tests for {len(document['gates'])} gates"]
    yield check.judged(entries, complaints + wrong, [f"{count} gates"], VERSION)


CHECKS = (
    Check(
        name="acceptance",
        what="acceptance: gates and ReFrame's configuration",
        parser="reframe --list",
        proves="ReFrame accepts its configuration by its own schema, and loads our test with each gate and its floors."
        " No gate runs here.",
        reads=paths("acceptance/gates.json", "acceptance/reframe.yaml"),
        ask=_ask,
    ),
)
