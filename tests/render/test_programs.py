"""What runs on nodes is a static file of `programs/`, and its values are data."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from clustergen.records import record
from clustergen.render.engine import carried
from clustergen.render.formats import RenderError
from clustergen.render.values import print_json, print_shell

HOSTILE = "a'b\"$(id)`id`\\ {{ 7 }} é"


@record
class Row:
    name: str
    size: int


@record
class Example:
    text: str
    flag: bool
    nothing: str | None
    words: tuple[str, ...]
    rows: tuple[Row, ...]
    table: dict[str, str]


EXAMPLE = Example(HOSTILE, True, None, ("one", HOSTILE), (Row("a b", 1), Row(HOSTILE, 2)), {"k e y": HOSTILE})


def test_bash_reads_the_values_as_they_are(tmp_path: Path) -> None:
    (tmp_path / "values.sh").write_text(print_shell(EXAMPLE), encoding="utf-8")
    printed = '"$text" "$flag" "$nothing" "${words[@]}" "${rows[@]}" "${!table[@]}" "${table[@]}"'
    script = f'set -eu; . "$1"; printf "%s\\n" {printed}'
    command = ["bash", "-c", script, "bash", str(tmp_path / "values.sh")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=True)
    expected = [HOSTILE, "true", "", "one", HOSTILE, "a b", "1", HOSTILE, "2", "k e y", HOSTILE]
    assert done.stdout.splitlines() == expected


def test_values_print_a_row_on_a_line() -> None:
    assert "rows=( # name size\n  'a b' 1\n" in print_shell(EXAMPLE)
    assert '"rows": [\n    {\n      "name": "a b",\n      "size": 1\n    },' in print_json(EXAMPLE)


@pytest.mark.parametrize("value", ["two\nlines", object(), float("nan")])
def test_other_values_are_refused(value: object) -> None:
    for printed in (print_shell, print_json):
        with pytest.raises(RenderError):
            printed(Example(value, True, None, (), (), {}))  # type: ignore[arg-type]


def test_no_template_is_a_program() -> None:
    """A template may begin with `#!` if a line of logic follows: it then only starts a program."""
    root = carried("templates")
    found = []
    for place in sorted(root.rglob("*.j2")):
        lines = place.read_text(encoding="utf-8").splitlines()
        logic = [line for line in lines[1:] if line.strip() and not line.lstrip().startswith(("#", "{%", "{#"))]
        if lines and lines[0].startswith("#!") and len(logic) > 1:
            found.append(str(place.relative_to(root)))
    assert len(found) <= 39


OF_A_NAME = ("beegfs", "failover", "lustre", "quota", "striping", "zpool")


@pytest.mark.parametrize("name", ["", "gone", "../home", "home/../data"])
@pytest.mark.parametrize("kind", OF_A_NAME)
def test_a_name_without_values_is_refused(kind: str, name: str, tmp_path: Path) -> None:
    values = tmp_path / "etc/clustergen"
    (values / f"{kind}-home").mkdir(parents=True)  # over which a name with a slash would lead
    for place in ("etc/clustergen/home", f"etc/clustergen/{kind}-home", f"etc/clustergen/{kind}-data", "home"):
        (tmp_path / f"{place}.sh").write_text("echo read; exit 0\n", encoding="utf-8")
    text = (carried("programs") / f"storage/clustergen-{kind}.sh").read_text(encoding="utf-8")
    (tmp_path / "program").write_text(text.replace("/etc/clustergen", str(values)), encoding="utf-8")
    command = ["bash", str(tmp_path / "program"), name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert (done.returncode in (1, 2), done.stdout) == (True, "")
    assert done.stderr.startswith(f"usage: clustergen-{kind} NAME [")
    assert done.stderr.endswith("; NAME is one of: data home\n")
