"""Scripts: bash and Python parse them, shellcheck looks for mistakes. All read a file alone: no sandbox is needed."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from clustergen.verify.check import Check, Trial, failure, place_of
from clustergen.verify.files import Entry
from clustergen.verify.programs import TIMEOUT, Answer, NotHere, ask, find
from clustergen.verify.rows import Row

_SHEBANG = re.compile(r"#!\s*/(?:usr/)?bin/(?:env )?(?:ba)?sh\b")
_PYTHON = re.compile(r"#!\s*/usr/bin/(?:env )?python3\b")
_VERSION = re.compile(r"\d+(?:\.\d+)+")
# Patterns that a script switches on are switched on before it is read: when it runs, bash reads line by line.
_PARSE = r"""
status=0
for file; do
  options=()
  for option in $(sed -nE 's/^shopt -s ([a-z_ ]+)$/\1/p' "$file"); do options+=(-O "$option"); done
  "$program" "${options[@]}" -n "$file" || status=1
done
exit $status
"""
_VERSIONS = {
    "bash": "$program --version | head -1",
    "shellcheck": "$program --version | grep ^version:",
    "python3": "$program --version",
}
_COMPILE = r"""
"$program" - "$@" <<'END'
import sys
for name in sys.argv[1:]:
    compile(open(name, encoding="utf-8").read(), name, "exec")
END
"""


def _is_python(place: str, text: str) -> bool:
    return _PYTHON.match(text) is not None or place.endswith(".py")


def is_script(place: str, text: str) -> bool:
    return _SHEBANG.match(text) is not None or place.endswith(".sh")


def _run(program: str, script: str, directory: Path) -> Answer:
    """This machine's own program if it has one, else that of a root. Raises NotHere."""
    names = sorted(str(path.relative_to(directory)) for path in directory.rglob("*") if path.is_file())
    if path := shutil.which(program):
        try:
            version = _local([path, "--version"], directory).stdout
            done = _local(["bash", "-c", f"program={path}\n{script}", "bash", *names], directory)
        except subprocess.TimeoutExpired:
            raise NotHere(f"{program} did not answer within {TIMEOUT:g} s") from None
        match = _VERSION.search(version)
        return Answer(match.group() if match else "", done.returncode, done.stdout, done.stderr, {})
    return ask(
        find(program),
        f"cd /scripts && {{ {script}\n}}",
        version=_VERSIONS[program],
        arguments=names,
        stand_ins=((directory, "/scripts/"),),
    )


def _local(command: Sequence[str], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, timeout=TIMEOUT, check=False)


class _Scripts:
    """All scripts of the tree before one program, each once."""

    def __init__(self, program: str, script: str) -> None:
        self.program = program
        self.script = script

    def __call__(self, check: Check, trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
        directory = trial.scratch / check.name
        for entry in entries:
            entry.write(directory / entry.path)
        answer = _run(self.program, self.script, directory)
        notes = [f"{len({place_of(entry) for entry in entries})} scripts"]
        yield check.judged(entries, failure(answer), notes, answer.version)


CHECKS = (
    Check(
        name="bash",
        what="shell scripts: syntax",
        parser="bash -n",
        proves="bash can parse every script.",
        reads=is_script,
        ask=_Scripts("bash", _PARSE),
    ),
    Check(
        name="shellcheck",
        what="shell scripts: mistakes",
        parser="shellcheck",
        proves="shellcheck reports nothing of any severity in any script. The tests, and the node, show what a script "
        "does with the hardware.",
        reads=is_script,
        ask=_Scripts("shellcheck", '"$program" --format=gcc --external-sources "$@"'),
    ),
    Check(
        name="python",
        what="Python scripts: syntax",
        parser="python3",
        proves="Python compiles every script. The tests run them.",
        reads=_is_python,
        ask=_Scripts("python3", _COMPILE),
    ),
)
