"""Arguments of verbs: manifest.yaml by default, directories, standard input, several manifests, other files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clustergen.cli import group
from clustergen.diagnostics import ClustergenError

CONF = "ClusterName=c\nSlurmctldHost=ctl\nNodeName=n1 CPUs=4\nPartitionName=p Nodes=n1 Default=YES\n"
EXAMPLE = Path(__file__).resolve().parents[2] / "inventories/home-3090"
MANIFEST = (EXAMPLE / "manifest.yaml").read_text(encoding="utf-8")


def run(*words: str, stdin: str | None = None) -> Result:
    return CliRunner().invoke(group, words, input=stdin)


def refused(*words: str) -> tuple[str, str | None, int]:
    """Message, hint and exit code."""
    error = run(*words).exception
    assert isinstance(error, ClustergenError)
    return error.message, error.hint, error.exit_code


@pytest.fixture(autouse=True)
def _directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


# --- defaults ---------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_manifest_of_the_current_directory_is_the_default() -> None:
    Path("manifest.yaml").write_text(MANIFEST)
    assert run("validate").stdout.startswith("manifest.yaml: ")
    assert "rendered: " in run("render").stderr
    assert run("render", "--check").exit_code == 0
    assert run("verify", "--only", "tree").stdout.startswith("passed")
    assert "slurm.conf" in run("explain", "/etc/slurm/slurm.conf:1").stdout


@pytest.mark.parametrize("verb", [("validate",), ("render",), ("lab", "up")])
def test_without_a_manifest_the_message_names_init(verb: tuple[str, ...]) -> None:
    done = run(*verb)
    assert done.exit_code == 2
    assert "no manifest.yaml in this directory: name one, or write one with `clustergen init`" in done.stderr


def test_without_a_tree_the_message_names_render() -> None:
    done = run("verify")
    assert done.exit_code == 2
    assert "no rendered tree in this directory: name one, or write one with `clustergen render`" in done.stderr


@pytest.mark.slow
def test_a_directory_is_its_manifest() -> None:
    Path("a").mkdir()
    Path("a/manifest.yaml").write_text(MANIFEST)
    assert run("validate", "a").stdout.startswith("a/manifest.yaml: ")
    assert run("render", "a").stderr.startswith("a/rendered: ")
    for tree in ("a", "a/manifest.yaml", "a/rendered"):
        assert run("verify", tree, "--only", "tree").exit_code == 0


@pytest.mark.slow
def test_diff_compares_with_the_manifest_of_the_current_directory() -> None:
    Path("old.yaml").write_text(MANIFEST)
    assert run("diff", "old.yaml").exit_code == 2
    Path("manifest.yaml").write_text(MANIFEST)
    assert run("diff", "old.yaml").exit_code == 0
    assert "OLD and NEW may not be empty" in str(run("diff", "old.yaml", "").exception)


def test_files_of_the_current_directory_are_linted() -> None:
    Path("slurm.conf").write_text(CONF)
    assert "slurm.conf: read as Slurm" in run("lint").stderr


# --- several, and standard input --------------------------------------------------------------------------------------


@pytest.mark.slow
def test_several_manifests_end_with_the_worst_code() -> None:
    Path("a.yaml").write_text(MANIFEST)
    Path("b.yaml").write_text(MANIFEST + "nmae: x\n")
    assert run("validate", "a.yaml", "a.yaml").exit_code == 0
    done = run("validate", "a.yaml", "b.yaml")
    assert done.exit_code == 2
    assert "error[key-unknown]" in done.stdout
    assert [line[:7] for line in done.stdout.splitlines() if " is valid: " in line] == ["a.yaml:"]
    done = run("validate", "b.yaml", "gone.yaml", "a.yaml")
    assert done.exit_code == 3
    assert "error[key-unknown]" in done.stdout
    assert "gone.yaml: error[file-unreadable]" in done.stderr


def test_several_manifests_are_one_document() -> None:
    for name in ("a.yaml", "b.yaml"):
        Path(name).write_text(MANIFEST + "nmae: x\n")
    document = json.loads(run("validate", "a.yaml", "b.yaml", "--format", "json").stdout)
    assert [one["file"] for one in document["diagnostics"]] == ["a.yaml", "b.yaml"]


def test_a_manifest_on_standard_input() -> None:
    assert run("validate", "-", stdin=MANIFEST).exit_code == 0
    done = run("validate", "-", stdin=MANIFEST + "nmae: x\n")
    assert done.exit_code == 2
    assert done.stdout.startswith("stdin:")
    assert "nmae: x\n" in done.stdout
    assert "manifest" in run("render", "-", stdin=MANIFEST).stderr


def test_a_slurm_conf_on_standard_input() -> None:
    done = run("lint", "-", "--slurm-version", "24.11", stdin=CONF + "Foo=1\n")
    assert done.exit_code == 1
    assert "\nstdin:5:1: error[slurm-key-unknown]" in f"\n{done.stdout}"
    assert "    5 | Foo=1\n" in done.stdout
    assert run("lint", "-", "--fix", stdin=CONF).exit_code == 2


@pytest.mark.slow
def test_a_line_is_explained_from_standard_input() -> None:
    done = run("explain", "-", "/etc/slurm/slurm.conf:3", stdin=MANIFEST)
    assert done.exit_code == 0
    assert "line 3: # slurm.conf for Slurm" in done.stdout


# --- files of another kind --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", ["lint", "import"])
def test_a_manifest_is_not_read_as_slurm_conf(verb: str) -> None:
    Path("manifest.yaml").write_text(MANIFEST)
    assert refused(verb, "manifest.yaml") == (
        "manifest.yaml is a clustergen manifest", "run clustergen validate manifest.yaml", 2,
    )  # fmt: skip


@pytest.mark.parametrize("verb", ["validate", "render"])
def test_files_that_are_no_manifests_are_named(verb: str) -> None:
    Path("slurm.conf").write_text(f"# ours\n{CONF}")
    assert refused(verb, "slurm.conf") == (
        "slurm.conf is a Slurm configuration file",
        "run clustergen lint slurm.conf, or clustergen import slurm.conf -o manifest.yaml",
        2,
    )
    tree = str(EXAMPLE / "rendered")
    hint = f"name its manifest, {EXAMPLE / 'manifest.yaml'}, or run clustergen verify {tree}"
    assert refused(verb, tree) == (f"{tree} is a rendered tree", hint, 2)
    lock = f"{tree}/clustergen.lock.json"
    assert refused(verb, lock) == (f"{lock} is the lock file of a rendered tree", f"run clustergen verify {tree}", 2)
    Path("empty").mkdir()
    assert refused(verb, "empty")[0] == "empty: no manifest.yaml in this directory"


@pytest.mark.parametrize(
    ("text", "title", "hint"),
    [
        (
            'Switch\t64 "S-0002"\t# "leaf1"\n',
            "output of ibnetdiscover",
            "run clustergen fabric check manifest.yaml file",
        ),
        ("NodeName=n CPUs=8 RealMemory=9\nUpTime=0-1\n", "output of slurmd -C", "save it as facts/NODE/slurmd-C"),
        ("CA 'mlx5_0'\n\tCA type: MT4129\n", "output of ibstat", "save it as facts/NODE/ibstat"),
        ("\n# ours\nNCCL_DEBUG=WARN\n", "an nccl.conf", "under nccl.env"),
        ("Cluster - 'c':Fairshare=1\n", "output of sacctmgr dump", "--accounts file"),
    ],
)
@pytest.mark.parametrize("verb", ["validate", "lint"])
def test_output_of_other_programs_is_named(verb: str, text: str, title: str, hint: str) -> None:
    Path("file").write_text(text)
    message, advice, code = refused(verb, "file")
    assert (message, code) == (f"file is {title}", 2)
    assert hint in str(advice)


@pytest.mark.parametrize(
    ("text", "hint"),
    [("max_connections=9\n", "name a slurm.conf"), ("ConstrainCores=yes\n", "name it cgroup.conf")],
)
def test_lint_refuses_a_file_without_any_key_of_slurm(text: str, hint: str) -> None:
    Path("ours.conf").write_text(text)
    message, advice, code = refused("lint", "ours.conf", "--fix")
    assert message.startswith("ours.conf: not a slurm.conf")
    assert (hint in str(advice), code) == (True, 3)


def test_a_slurm_conf_with_a_pasted_line_of_slurmd_is_linted() -> None:
    Path("slurm.conf").write_text(f"{CONF}NodeName=n CPUs=8 RealMemory=9\nUpTime=0-1\n")
    assert "UpTime" in run("lint", "slurm.conf").stdout


def test_verify_before_the_first_render() -> None:
    Path("manifest.yaml").write_text(MANIFEST)
    assert refused("verify", "manifest.yaml") == (
        "manifest.yaml has no rendered tree yet", "run clustergen render manifest.yaml", 3,
    )  # fmt: skip


@pytest.mark.slow
def test_verify_of_a_manifest_beside_the_tree_of_another() -> None:
    for name in ("manifest.yaml", "other.yaml"):
        Path(name).write_text(MANIFEST)
    assert run("render").exit_code == 0
    message, hint, code = refused("verify", "other.yaml")
    assert (message, code) == ("rendered was rendered from manifest.yaml, not from other.yaml", 2)
    assert str(hint).startswith("run clustergen render other.yaml -o ")
    for text, is_edited in ((f"{MANIFEST}# edited\n", False), (MANIFEST.replace("128GiB", "64GiB"), True)):
        Path("manifest.yaml").write_text(text)
        for named in (["manifest.yaml"], []):
            done = run("verify", *named, "--only", "nfs")
            assert ("rendered is out of date: manifest.yaml was edited" in done.stderr) == is_edited


@pytest.mark.parametrize("verb", ["lint", "import"])
def test_a_path_that_is_not_there(verb: str) -> None:
    message, _, code = refused(verb, "nowhere")
    assert (message, code) == ("nowhere: no such file or directory", 3)


def test_a_broken_manifest_is_still_a_manifest() -> None:
    """One key of a manifest is enough: the file is not taken for a slurm.conf that lint should read."""
    Path("m.yaml").write_text("name: [\nSlurmUser: x\n")
    assert "error[yaml-syntax]" in run("validate", "m.yaml").stdout


@pytest.mark.parametrize(("word", "hint"), [("roles", "nodes.roles"), ("foo", "lists all codes")])
def test_explain_names_the_fields_with_that_last_name(word: str, hint: str) -> None:
    _, advice, code = refused("explain", word)
    assert (hint in str(advice), code) == (True, 2)


def test_explain_takes_a_key_of_slurm_in_any_case() -> None:
    assert "set by slurm.partitions.NAME.max_time" in run("explain", "maxtime").stdout


def test_drift_without_facts_shows_how_to_record_them() -> None:
    shown = CliRunner().invoke(group, ["drift", "manifest.yaml"])
    assert shown.exit_code == 2
    assert "set --facts DIR" in shown.output
    assert "ansible-playbook clustergen.cluster.drift -e facts=DIR" in shown.output
