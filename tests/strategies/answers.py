"""Answers of real programs, in fixtures/answers/: tests of `make quick` judge them without starting a process.

`python -m strategies.answers`, run in tests/, asks the programs of the cases of a table, with the names of some cases
those alone. An answer belongs to its question: the script with its arguments, and the files that lie in the sandbox.
A changed question has no answer until the programs are asked again.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

from clustergen.features.acceptance import checks as acceptance
from clustergen.features.notebooks import hub
from clustergen.verify import programs, sandbox, simulated_hardware, slurm_roots
from clustergen.verify.checks import CHECKS, shell, tree
from clustergen.verify.reframe import reframe_directory
from clustergen.verify.sandbox import Outcome, Sandbox

DIRECTORY = Path(__file__).parents[1] / "fixtures" / "answers"
_STARTING = (acceptance, hub, shell, tree)
"""Modules that start programs outside of the sandbox."""
_LIBRARY = re.compile(r"\.so(\.\d+)?$")
_OTHER_PROGRAMS = ("cloud-init", "ifup", "nmcli", "netplan", "opensm", "rsvg-convert", "sackd", "slurmctld", "slurmd")
_PLUGINS = (simulated_hardware.NVML_PLUGIN, "mpi_pmix*.so")
_UNITS = ("sshd.service", "ssh.service", "multi-user.target", "network-online.target", "remote-fs.target")

Answer = dict[str, Any]


class UnaskedError(AssertionError):
    """No program was asked this."""


def _below(directory: Path) -> Iterator[str]:
    """Each file with its text, and whether it can be executed."""
    for path in sorted(path for path in directory.rglob("*") if path.is_file()):
        yield f"{path.relative_to(directory)} {path.stat().st_mode & 0o100} {path.read_bytes().decode('latin-1')}"


def _hash(parts: Iterator[str], scratch: str) -> str:
    return sha256("\0".join(parts).replace(scratch, "SCRATCH").encode()).hexdigest()[:16]


def _question(
    box: Sandbox, program: Any, env: Mapping[str, str] | None, notes: Mapping[str, str] | None
) -> Iterator[str]:
    yield from (box.root.name, box.hosts, box.hostname, str(box.is_one_user))
    yield from (*program, *box.addresses, *box.devices, *box.empty)
    yield from (f"{name}={value}" for name, value in sorted((env or {}).items()))
    yield from (f"{name}: {'' if _LIBRARY.search(name) else text}" for name, text in sorted((notes or {}).items()))
    for source, target in box.files:
        yield target
        yield from _below(source)


class Answers:
    """The answers of one case in the order in which they were asked for."""

    def __init__(self, scratch: Path, answers: list[Answer] | None) -> None:
        self.scratch, self.recorded, self.answers = str(scratch), answers is not None, answers or []
        self.left = iter(self.answers)
        self.run, self.start = sandbox.run, subprocess.run

    def _next(self, question: str, ask: Callable[[], Answer]) -> Answer:
        if self.recorded:
            answer = next(self.left, {"asked": ""})
            if answer["asked"] != question:
                raise UnaskedError("a program is asked otherwise now: run python -m strategies.answers in tests/")
            return answer
        text = json.dumps({"asked": question, **ask()})
        for mine, name in ((self.scratch, "SCRATCH"), (os.uname().version, ""), (os.uname().release, "")):
            text = text.replace(mine, name)
        answer = json.loads(text)
        self.answers.append(answer)
        return answer

    def in_sandbox(
        self,
        box: Sandbox,
        program: Any,
        *,
        timeout: float,
        env: Mapping[str, str] | None = None,
        notes: Mapping[str, str] | None = None,
    ) -> Outcome:
        def ask() -> Answer:
            done = self.run(box, program, timeout=timeout, env=env, notes=notes)
            files = {name: text for name, text in done.files.items() if text and name not in (notes or {})}
            return {"code": done.code, "out": done.stdout, "err": done.stderr, "files": files}

        answer = self._next(_hash(_question(box, program, env, notes), self.scratch), ask)
        return Outcome(answer["code"], answer["out"], answer["err"], answer["files"])

    def on_this_machine(self, command: list[str], **options: Any) -> subprocess.CompletedProcess[str]:
        def question() -> Iterator[str]:
            for word in command:
                of_machine = word.startswith("/") and not word.startswith(self.scratch)
                yield (
                    re.sub(r"^python[\d.]+$", "python", Path(word).name)
                    if of_machine
                    else re.sub(r"^program=/\S*/", "program=", word)
                )
            yield from _below(Path(options["cwd"]))

        def ask() -> Answer:
            done = self.start(command, **options)
            return {"code": done.returncode, "out": done.stdout, "err": done.stderr}

        answer = self._next(_hash(question(), self.scratch), ask)
        return subprocess.CompletedProcess(command, answer["code"], answer["out"], answer["err"])


@contextmanager
def answering(scratch: Path, parsers: Path, answers: list[Answer] | None) -> Iterator[list[Answer]]:
    """Programs answer as they did, or with None are asked; yields all answers. `parsers`: of `machine`."""
    source = Answers(scratch, answers)
    starting = SimpleNamespace(**{**vars(subprocess), "run": source.on_this_machine})
    with mock.patch.multiple(sandbox, run=source.in_sandbox):
        patches = [mock.patch.object(module, "subprocess", starting) for module in _STARTING]
        if answers is not None:
            environment = {name: text for name, text in os.environ.items() if name != "CLUSTERGEN_LIBNCCL"}
            which = SimpleNamespace(which=lambda name, **_: None if name == "slurmctld" else f"/usr/bin/{name}")
            patches += [
                mock.patch.dict(os.environ, {**environment, "CLUSTERGEN_PARSERS": str(parsers)}, clear=True),
                *(mock.patch.object(module, "shutil", which) for module in (shell, tree, programs)),
                mock.patch.object(sandbox, "unavailable", return_value=None),
            ]
        simulated_hardware.libraries.cache_clear()
        for patch in patches:
            patch.start()
        try:
            yield source.answers
        finally:
            for patch in patches:
                patch.stop()
            simulated_hardware.libraries.cache_clear()


# The machine whose programs were asked: roots with their system, and empty files in place of programs and plugins


def _of_root(root: Path) -> dict[str, Any]:
    names = {*_OTHER_PROGRAMS, *simulated_hardware.COMPILERS, *(getattr(check.ask, "program", "") for check in CHECKS)}
    patterns = [f"{place}/{name}" for name in sorted(names - {""}) for place in programs._PLACES]
    patterns += [f"{place}/{name}" for name in _PLUGINS for place in slurm_roots._PLUGINS]
    patterns += [f"usr/lib/systemd/system/{name}" for name in _UNITS]
    patterns += ["var/lib/clustergen/mariadb/version"]
    files = {str(path.relative_to(root)) for pattern in patterns for path in root.glob(pattern)}
    texts = ("etc/os-release", "var/lib/clustergen/slurm-version")
    return {
        **dict.fromkeys(sorted(files), ""),
        **{name: (root / name).read_text(encoding="utf-8") for name in texts if (root / name).is_file()},
        **({"var/lib/clustergen/mariadb/any": ""} if (root / "var/lib/clustergen/mariadb").is_dir() else {}),
    }


def machine(directory: Path) -> Path:
    """Lays the roots out below a directory."""
    for root, texts in _read("machine").items():
        for name, text in texts.items():
            place = directory / root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text, encoding="utf-8")
    for packages in (reframe_directory(), hub.hub_directory()):
        (directory / packages.name).mkdir()
    return directory


@cache
def _read(table: str) -> Mapping[str, Any]:
    result: Mapping[str, Any] = json.loads((DIRECTORY / f"{table}.json").read_text(encoding="utf-8"))
    return result


def reports(table: str, directory: Path) -> dict[str, str]:
    """The report of each case with the recorded answers."""
    parsers, texts = machine(directory / "parsers"), {}
    for number, (name, case) in enumerate(_cases()[table].items()):
        (scratch := directory / str(number)).mkdir()
        with answering(scratch, parsers, answers_of(table, name)):
            texts[name] = case.report(scratch)
    return texts


def answers_of(table: str, case: str) -> list[Answer]:
    answers: list[Answer] = _read(table)[case]
    return answers


def _write(table: str, document: Mapping[str, Any]) -> None:
    text = json.dumps(document, indent=0, sort_keys=table == "machine", ensure_ascii=False)
    (DIRECTORY / f"{table}.json").write_text(f"{text}\n", encoding="utf-8")


def _cases() -> Mapping[str, Mapping[str, Any]]:
    from strategies import asked_checks, asked_trials

    return {"checks": asked_checks.CASES, "trials": asked_trials.CASES}


def main() -> None:
    from strategies import reviewed

    _write("machine", {root.name: _of_root(root) for root in slurm_roots.roots() if (root / "etc/os-release").exists()})
    for table, cases in _cases().items():
        previous = _read(table) if (DIRECTORY / f"{table}.json").is_file() else {}
        document = {}
        for name, case in cases.items():
            if name in previous and len(sys.argv) > 1 and not any(word in name for word in sys.argv[1:]):
                document[name] = previous[name]
                continue
            with tempfile.TemporaryDirectory(prefix="answers-") as scratch:
                with answering(Path(scratch), Path(scratch), None) as answers:
                    sys.stdout.write(case.report(Path(scratch)))
                document[name] = [case.shortened(answer) for answer in answers]
        _write(table, document)
    _read.cache_clear()
    with tempfile.TemporaryDirectory(prefix="answers-") as directory:
        for table in _cases():
            reviewed.write(f"answers_{table}", reports(table, Path(directory) / table))


if __name__ == "__main__":
    main()
