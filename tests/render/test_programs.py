"""Programs of nodes are static files of `programs/`, and their values are data."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from clustergen.catalogue.job_templates import template_kinds
from clustergen.records import record
from clustergen.render.engine import carried
from clustergen.render.formats import RenderError
from clustergen.render.tree import RenderedFile
from clustergen.render.values import print_json, print_shell
from strategies.inventories import GOLDEN, compiled
from strategies.job_templates import all_templates
from strategies.trees import tree_of

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
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
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


JOB = "user_node/jobs/job.sh.j2"
"""Users submit copies of it, so that it cannot be in programs/: it has #SBATCH lines, a warning, and one call."""


def programs_in_templates() -> set[str]:
    """A template may begin with `#!` if a line of logic follows: it then only starts a program."""
    root = carried("templates")
    names = set()
    for place in sorted(root.rglob("*.j2")):
        lines = place.read_text(encoding="utf-8").splitlines()
        logic = [line for line in lines[1:] if line.strip() and not line.lstrip().startswith(("#", "{%", "{#"))]
        if lines and lines[0].startswith("#!") and len(logic) > 1:
            names.add(str(place.relative_to(root)))
    return names - {JOB}


def test_no_template_is_a_program() -> None:
    assert len(programs_in_templates()) <= 0


@pytest.fixture(scope="module")
def rendered(tmp_path_factory: pytest.TempPathFactory) -> list[RenderedFile]:
    """The files with `#!` of the golden trees, and of a cluster that has all job templates."""
    trees = [compiled(name)[1] for name in GOLDEN] + [tree_of(all_templates(), tmp_path_factory.mktemp("jobs"))]
    return [file for tree in trees for file in tree if file.content.startswith(b"#!")]


@pytest.mark.slow
def test_no_template_prints_a_program(rendered: list[RenderedFile]) -> None:
    """Nor one that begins with an include."""
    listed = {f"templates/{name}" for name in programs_in_templates() | {JOB}}
    sources = {file.source if "/" in file.source else file.path for file in rendered}
    assert not {name for name in sources if not name.startswith("programs/")} - listed


@pytest.mark.slow
def test_a_job_script_has_one_call(rendered: list[RenderedFile]) -> None:
    scripts = [file for file in rendered if file.source == f"templates/{JOB}"]
    assert {Path(file.path).stem for file in scripts} == set(template_kinds())
    form = r"(echo '[^']+' >&2\n)?\. /usr/local/lib/clustergen/job\.sh\n(\w+=\S+ )*job_\w+ \"\$@\"\n"
    for file in scripts:
        logic = [line for line in file.content.decode().splitlines() if line and not line.startswith("#")]
        assert re.fullmatch(form, "\n".join([*logic, ""])), file.path


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
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode in (1, 2), done.stdout) == (True, "")
    assert done.stderr.startswith(f"usage: clustergen-{kind} NAME [")
    assert done.stderr.endswith("; NAME is one of: data home\n")
