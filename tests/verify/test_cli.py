"""`clustergen verify` and `clustergen proof` as a user meets them: what is printed, and the exit code."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clustergen import compile as compiler
from clustergen.cli import group
from clustergen.render.tree import LOCK
from clustergen.render.write import write
from clustergen.verify.check import no_parser
from clustergen.verify.checks import CHECKS, COMPONENTS, chosen
from clustergen.verify.proof import Cluster, document, kind_of, kinds
from clustergen.verify.rows import Row
from clustergen.verify.run import claims, unclaimed
from strategies.terminal import on_a_terminal
from strategies.trees import manifest, tree_of

ROOT = Path(__file__).parents[2]
PROOF = ROOT / "docs" / "proof.md"
MANIFESTS = [*sorted(ROOT.glob("inventories/*/manifest.yaml")), *sorted(ROOT.glob("tests/fixtures/verify/*.yaml"))]

Command = Callable[..., Result]


@pytest.fixture
def clustergen() -> Command:
    def run(*arguments: str | Path) -> Result:
        return CliRunner().invoke(group, [str(argument) for argument in arguments])

    return run


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    directory = tmp_path / "rendered"
    write(tree_of(manifest(), tmp_path), directory)
    return directory


def damage(tree: Path, path: str) -> None:
    with (tree / path).open("a", encoding="utf-8") as file:
        file.write("Nonsense=1\n")


@pytest.fixture
def no_parsers(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CLUSTERGEN_PARSERS", str(tmp_path / "nothing"))


@pytest.fixture
def no_programs(bare: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine with no program that reads a file, Ansible's beside Python among them."""
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python3"))


# --- verify -----------------------------------------------------------------------------------------------------------


def test_passed_checks_are_exit_code_0(clustergen: Command) -> None:
    tree = ROOT / "inventories/ml-training/rendered"
    done = clustergen("verify", tree, "--only", "tree, dcgm-counters")
    assert done.exit_code == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["passed", "passed", f"{tree}:"]
    assert done.stdout.endswith(f"\n{tree}: 2 passed.\n")
    assert done.stderr == ""


@pytest.mark.slow
def test_a_failed_check_is_exit_code_1_with_its_message(clustergen: Command, tree: Path) -> None:
    damage(tree, "overlays/slurm_node/etc/slurm/slurm.conf")
    done = clustergen("verify", tree, "--only", "tree")
    assert done.exit_code == 1
    assert "    overlays/slurm_node/etc/slurm/slurm.conf: differs from the lock file" in done.stdout


@pytest.mark.slow
def test_rows_and_reasons_fit_the_terminal(tree: Path) -> None:
    """A terminal of 50 columns, which the kernel makes."""
    damage(tree, "overlays/slurm_node/etc/slurm/slurm.conf")
    words = [sys.executable, "-m", "clustergen", "verify", tree, "--only", "tree", "--color", "never"]
    code, shown = on_a_terminal(words, 50)
    assert code == 1
    assert "    overlays/slurm_node/etc/slurm/slurm.conf:\n      differs from the lock file" in shown
    assert max(len(line) for line in shown.splitlines()[:-1]) <= 55  # the last one has the path of the tree


@pytest.mark.slow
def test_hosts_that_do_not_answer_are_reported_with_exit_code_3(
    clustergen: Command, tree: Path, no_parsers: None
) -> None:
    done = clustergen("verify", tree, "--only", "slurm", "--only", "tree")
    assert done.exit_code == 3
    assert "the tree requires Slurm 24.11" in done.stdout
    assert done.stdout.endswith("1 passed, 3 not run.\n")


def test_a_failure_outweighs_what_could_not_be_asked(clustergen: Command, tree: Path, no_parsers: None) -> None:
    damage(tree, "overlays/slurm_node/etc/slurm/slurm.conf")
    assert clustergen("verify", tree, "--only", "slurm", "--only", "tree").exit_code == 1


@pytest.mark.slow
def test_kinds_without_a_parser_are_no_failure(clustergen: Command, tree: Path) -> None:
    done = clustergen("verify", tree, "--only", "overview")
    assert (done.exit_code, done.stdout.split()[:2]) == (0, ["no", "parser"])


@pytest.mark.slow
def test_the_worst_of_several_trees_counts(clustergen: Command, tree: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    write(tree_of(manifest(), tmp_path), other)
    damage(other, "site.yml")
    assert clustergen("verify", other, tree, "--only", "tree").exit_code == 1


def test_json_is_one_document_with_the_exit_code(clustergen: Command, tree: Path, no_parsers: None) -> None:
    done = clustergen("verify", tree, "--only", "slurm", "--only", "tree", "--format", "json")
    document = json.loads(done.stdout)
    statuses = {"tree": "passed", "slurm": "not-run", "slurm hardware": "not-run"}
    assert {row["check"]: row["status"] for row in document["rows"]} == statuses
    assert document["exit_code"] == done.exit_code == 3
    assert clustergen("verify", tree, tree, "--format", "json").exit_code == 2


def test_a_directory_without_a_tree_is_exit_code_3(clustergen: Command, tmp_path: Path) -> None:
    done = clustergen("verify", tmp_path)
    assert done.exit_code != 0
    assert getattr(done.exception, "exit_code", None) == 3
    assert LOCK in str(done.exception)


def test_checks_are_listed_and_their_names_are_checked(clustergen: Command, tree: Path) -> None:
    listed = [line for line in clustergen("verify", "--list").stdout.splitlines() if line]
    assert len(listed) == len(CHECKS)
    done = clustergen("verify", tree, "--only", "slrum")
    assert done.exit_code == 2
    assert "slurm" in done.stderr
    assert clustergen("verify").exit_code == 2


@pytest.mark.slow
def test_a_component_selects_its_checks(clustergen: Command, tree: Path) -> None:
    text = CliRunner().invoke(group, ["verify", "--help"]).stdout
    for name, checks in COMPONENTS.items():
        assert chosen([name]) == checks
        assert re.search(rf"\b{name}\b", text)
        assert name not in {check.name for check in CHECKS if check not in checks}
    assert [check.name for check in chosen(["systemd", "tree", "systemd-units"])][:2] == ["tree", "systemd units"]
    done = clustergen("verify", tree, "--only", "scripts", "--format", "json")
    assert {row["check"] for row in json.loads(done.stdout)["rows"]} <= {"bash", "shellcheck", "python"}


@pytest.mark.parametrize(
    ("program", "names"),
    [
        ("clustergen", ["tree"]),
        ("nft", ["rules for DCGM", "nftables"]),
        ("nft --check", ["rules for DCGM", "nftables"]),
    ],
)
def test_a_check_is_named_by_its_program_too(program: str, names: list[str]) -> None:
    """A row of the output has the program's name."""
    assert [check.name for check in chosen([program])] == names


@pytest.mark.slow
def test_nothing_of_the_tree_changes(clustergen: Command, tree: Path, no_parsers: None) -> None:
    def state() -> dict[str, tuple[bytes, int]]:
        return {str(p): (p.read_bytes(), p.stat().st_mtime_ns) for p in sorted(tree.rglob("*")) if p.is_file()}

    before = state()
    clustergen("verify", tree)
    assert state() == before


# --- proof ------------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_proof_refuses_what_did_not_pass(clustergen: Command, tree: Path, tmp_path: Path, no_programs: None) -> None:
    page = tmp_path / "proof.md"
    assert clustergen("proof", tree, "--write", page).exit_code == 3
    damage(tree, "README.md")
    done = clustergen("proof", tree, "--write", page)
    assert done.exit_code == 1
    assert "README.md: differs from the lock file" in done.stderr
    assert not page.exists()


def test_a_page_claims_only_what_passed(tree: Path) -> None:
    slurm, site = "overlays/slurm_node/etc/slurm/slurm.conf", "site.yml"
    rows = [
        Row("slurm", "Slurm", "slurmctld", "passed", (slurm,), "24.11.5"),
        Row("slurm", "Slurm", "slurmctld", "passed", (slurm,), "26.05.5"),
        Row("ansible-playbook", "a playbook", "ansible-playbook", "not run", (site,), "", ("not installed",)),
        Row(
            "overview",
            "an overview",
            "(documentation)",
            "no parser",
            ("README.md",),
            "",
            ("For reviewers; no program reads it.",),
        ),
    ]
    page = document([Cluster.read(tree, rows)])
    assert "| `slurm_node/etc/slurm/slurm.conf` | slurmctld 24.11.5, 26.05.5 |" in page
    assert "| `tree/site.yml` | **not read** |" in page
    assert "| an overview: `tree/README.md` | (documentation) | For reviewers; no program reads it. |" in page
    missing = page.partition("## Files that none of these clusters has")[2]
    assert "- `slurm_node/etc/slurm/gres.conf`" in missing
    assert "slurm_node/etc/slurm/slurm.conf" not in missing


def by_file() -> dict[str, str]:
    """The page's table of files: template → who has read what is made from it."""
    table = PROOF.read_text(encoding="utf-8").partition("## File by file")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `([^`]+)` \| (.*) \|$", table, re.MULTILINE))


def test_the_page_has_every_kind_of_file_that_can_be_made() -> None:
    assert set(by_file()) == set(kinds()), "run: clustergen proof --write docs/proof.md …"


def test_the_page_says_of_each_check_what_it_proves() -> None:
    """A check that no program of the example clusters passed is not on the page."""
    table = PROOF.read_text(encoding="utf-8").partition("## What each check proves")[2].partition("\n## ")[0]
    proved = set(re.findall(r"^\| (.*) \|$", table, re.MULTILINE)[2:])
    assert proved <= {f"{check.what} | {check.parser} | {check.proves}" for check in CHECKS}
    assert len(proved) > 40


@pytest.mark.slow
def test_the_page_names_no_program_that_would_not_be_asked(tmp_path: Path) -> None:
    askable: dict[str, set[str]] = {}
    for number, path in enumerate(MANIFESTS):
        compiled = compiler.validate(path)
        assert compiled.ok, compiled.diagnostics
        result, diagnostics = compiler.render(compiled, path)
        assert result is not None, diagnostics
        write(result, tmp_path / str(number))
        cluster = Cluster.read(tmp_path / str(number), [])
        assert unclaimed(cluster.tree) == []
        for check in CHECKS:
            parsers = set() if check.ask is no_parser else set(check.parser.split(", "))
            for entry in claims(check, cluster.tree.entries.values()):
                askable.setdefault(kind_of(entry.path, entry.source) or "", set()).update(parsers)
    for kind, read_by in by_file().items():
        if kind != LOCK and read_by != "**not read**":
            for part in read_by.split("; "):
                assert any(part.startswith(f"{parser} ") for parser in askable[kind]), (kind, part)
    answer = PROOF.read_text(encoding="utf-8").partition("## Files without a parser")[2]
    assert [
        kind for kind, read_by in by_file().items() if read_by == "**not read**" and f"`{kind}`" not in answer
    ] == []
