"""Saved plans, and how the output of a check becomes a summary of the nodes."""

from __future__ import annotations

import json
import os
from contextlib import nullcontext
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clustergen.apply import kept_files, playbook, saved
from clustergen.apply.target import target
from clustergen.cli import group
from clustergen.diagnostics import ClustergenError
from strategies.diffs import LONGER, MANIFEST, git, rendered, write

RECAP = """\
PLAY RECAP ****
c1    : ok=1    changed=1    unreachable=0    failed=0    skipped=0
c2    : ok=1    changed=0    unreachable=0    failed=0    skipped=0
c3    : ok=1    changed=1    unreachable=0    failed=1    skipped=0
c4    : ok=0    changed=0    unreachable=1    failed=0    skipped=0
"""
TASK = """\
    {seconds} s  Question

Question: What differs  [{seconds} s]
  {first}
  {second}

"""
DIFF = """\
{host}
--- before: /etc/hosts
+++ after: /etc/hosts
-{old}
+new
 same

"""


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, [*map(str, arguments)])


def lines(seconds: int, first: str, second: str) -> list[str]:
    return (TASK.format(seconds=seconds, first=first, second=second) + RECAP).splitlines()


def fingerprint(*diffs: tuple[str, str]) -> str:
    """Of a check that showed such a diff for each host, one after the other."""
    shown = "".join(DIFF.format(host=host, old=old) for host, old in diffs)
    return playbook.result(
        0, (TASK.format(seconds=1, first="c1", second="c2") + shown + RECAP).splitlines()
    ).fingerprint


def test_a_check_counts_who_would_change_and_who_failed() -> None:
    check = playbook.result(2, lines(3, "c1 changed: 1 file", "c3 failed: no"))
    assert (check.unchanged, check.changed, check.failed, check.hosts) == (("c2",), ("c1",), ("c3", "c4"), 4)


def test_the_fingerprint_is_of_the_answers_and_not_of_time_or_order() -> None:
    first = playbook.result(0, lines(3, "c1 changed: 1 file", "c2 ok"))
    assert playbook.result(0, lines(40, "c2 ok", "c1 changed: 1 file")).fingerprint == first.fingerprint
    assert playbook.result(0, lines(3, "c1 changed: 2 files", "c2 ok")).fingerprint != first.fingerprint


def test_the_fingerprint_depends_on_which_node_has_which_change() -> None:
    first = fingerprint(("c1", "a"), ("c2", "b"))
    assert fingerprint(("c2", "b"), ("c1", "a")) == first
    assert fingerprint(("c1", "b"), ("c2", "a")) != first
    assert fingerprint(("c1", "a"), ("c1", "b")) != fingerprint(("c1", "b"), ("c1", "a"))


@pytest.mark.parametrize(
    "line",
    [
        "c9    : ok=1    changed=1    unreachable=0    failed=0    skipped=0",
        "PLAY RECAP ****\nc9    : ok=1    changed=1    unreachable=0    failed=0    skipped=0",
    ],
)
def test_output_of_a_node_is_no_recap(line: str) -> None:
    check = playbook.result(0, [*line.splitlines(), *RECAP.splitlines()])
    assert (check.hosts, check.changed) == (4, ("c1",))


def test_a_playbook_that_asked_no_host_ends_with_its_last_message() -> None:
    with pytest.raises(ClustergenError, match="status 4: ERROR! no hosts"):
        playbook.result(4, ["something", "ERROR! no hosts", ""])


def test_without_ansible_there_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    with pytest.raises(ClustergenError, match="ansible-core is not installed") as caught:
        playbook.run(tmp_path, [])
    assert caught.value.hint is not None
    assert caught.value.hint.endswith("-m pip install ansible-core")


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A manifest as in the last commit; it is the current directory."""
    write(tmp_path)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "one")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_last_commit_is_what_a_plan_compares_with(repository: Path) -> None:
    assert run("plan").exit_code == 0
    write(repository, LONGER)
    done = run("plan")
    assert done.exit_code == 1
    assert done.stdout.splitlines()[-1] == "Plan: 1 file to change."
    git(repository, "commit", "-qam", "two")
    assert run("plan", ".").exit_code == 0
    for against in ("HEAD~1", "HEAD~1:manifest.yaml"):
        assert run("plan", "manifest.yaml", "--against", against).stdout.splitlines()[-1] == "Plan: 1 file to change."
    assert json.loads(run("plan", "--against", "HEAD~1", "--format", "json").stdout)["clusters"][0]["totals"]


def test_without_a_commit_the_hint_names_what_else_there_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path)
    monkeypatch.chdir(tmp_path)
    done = run("plan")
    assert isinstance(done.exception, ClustergenError)
    assert (done.exception.exit_code, done.exception.message) == (
        3, "HEAD:./manifest.yaml: not a git repository (or git does not trust it)",
    )  # fmt: skip
    assert "`clustergen plan manifest.yaml --against nodes`" in str(done.exception.hint)


def test_a_plan_against_a_tree(repository: Path) -> None:
    assert run("render", "manifest.yaml").exit_code == 0
    assert run("plan", "--against", "rendered").exit_code == 0
    write(repository, LONGER)
    assert run("plan", "--against", "rendered").exit_code == 1


@pytest.mark.slow
def test_an_invalid_manifest_is_no_plan(repository: Path) -> None:
    write(repository, text=MANIFEST + "wrong: 1\n")
    assert run("plan", "--out", "p.json").exit_code == 2
    assert not (repository / "p.json").exists()


@pytest.mark.slow
def test_a_saved_plan_is_read_as_it_was_made(repository: Path) -> None:
    write(repository, LONGER)
    (repository / "plans").mkdir()
    run("plan", "--out", "plans/p.json")
    plan = saved.read(Path("plans/p.json"))
    assert plan is not None
    assert (plan.manifest, plan.nodes, plan.arguments) == (Path("manifest.yaml"), None, ())
    rendered, _, _ = target(Path("manifest.yaml"))
    assert rendered is not None
    plan.require_same(rendered)
    document = json.loads((repository / "plans/p.json").read_text(encoding="utf-8"))
    assert (document["version"], document["against"]) == (1, "HEAD")


@pytest.mark.slow
@pytest.mark.parametrize(
    "edit",
    [
        ("max_time: 60", "max_time: 90"),
        ("partitions:", "# comment\n  partitions:"),
        ("name: small", "name: other"),
    ],
    ids=["value", "comment", "cluster"],
)
def test_a_plan_is_not_applied_to_another_manifest(repository: Path, edit: tuple[str, str]) -> None:
    write(repository, LONGER)
    run("plan", "--out", "p.json")
    write(repository, LONGER, edit)
    done = run("apply", "p.json", "--yes")
    assert isinstance(done.exception, ClustergenError)
    assert done.exception.exit_code == 1
    assert "manifest.yaml has changed since the plan was made" in done.exception.message
    assert done.exception.hint == "clustergen plan manifest.yaml --out p.json"
    assert not (repository / "rendered").exists()


def test_a_plan_is_not_applied_where_the_tree_is_another_one(repository: Path) -> None:
    """Another version of clustergen or another site file has the same effect."""
    write(repository, LONGER)
    run("plan", "--out", "p.json")
    (repository / "site/all/etc").mkdir(parents=True)
    (repository / "site/all/etc/motd").write_text("hello\n", encoding="utf-8")
    done = run("apply", "p.json", "--yes")
    assert isinstance(done.exception, ClustergenError)
    assert "renders to other files" in done.exception.message


@pytest.fixture
def kept(repository: Path) -> Path:
    """A tree with host_vars, of which n1's and n2's are links out of it, and logs."""
    tree, site = rendered(repository / "manifest.yaml"), repository / "site-vars"
    site.mkdir()
    (site / "n1.yml").write_text("a: 1\n", encoding="utf-8")
    (tree / "host_vars").mkdir()
    (tree / "host_vars/n0.yml").write_text("a: 0\n", encoding="utf-8")
    (tree / "host_vars/n1.yml").symlink_to("../../site-vars/n1.yml")
    (tree / "host_vars/n2.yml").symlink_to("n0.yml")
    (tree / "group_vars").symlink_to("../site-vars")
    (tree / "more").symlink_to(tree / "host_vars")
    (tree / "loop").symlink_to("loop")
    (tree / "nowhere").symlink_to("no-such-file")
    (tree / os.fsdecode(b"\xff\n\x1b")).touch()
    os.mkfifo(tree / "pipe")
    (tree / "ansible.log").touch()
    return tree


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(
    ("name", "is_stale"),
    [
        ("rendered/host_vars/n0.yml", True),
        ("rendered/host_vars/new.yml", True),
        ("site-vars/n1.yml", True),
        ("site-vars/all.yml", True),
        ("rendered/ansible.log", False),
        ("rendered/.ansible/facts", False),
        ("rendered/README.md", False),  # which an apply renders again
        ("elsewhere", False),
    ],
)
def test_a_plan_notices_what_changed_beside_the_tree(repository: Path, kept: Path, name: str, is_stale: bool) -> None:
    write(repository, LONGER)
    run("plan", "--out", "p.json")
    (repository / name).parent.mkdir(exist_ok=True)
    (repository / name).write_text("b: 2\n", encoding="utf-8")
    plan, (planned, _, _) = saved.read(repository / "p.json"), target(Path("manifest.yaml"))
    assert plan is not None
    assert planned is not None
    if is_stale:
        with pytest.raises(ClustergenError, match="files beside the rendered ones in rendered have changed"):
            plan.require_same(planned)
    else:
        plan.require_same(planned)


@pytest.mark.slow
def test_a_plan_bounds_what_it_reads_beside_the_tree(
    repository: Path, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_files, "MOST_FILES", 3)
    with pytest.raises(ClustergenError, match="more than 3 files"):
        kept_files.digest(kept, ())


def test_a_check_reads_the_same_files_in_a_copy(repository: Path, kept: Path) -> None:
    write(repository, LONGER)
    planned, _, _ = target(Path("manifest.yaml"))
    assert planned is not None
    with planned.checkable() as place:
        assert place.resolve() != kept.resolve()
        assert "MaxTime=01:00:00" in (place / "overlays/slurm_node/etc/slurm/slurm.conf").read_text(encoding="utf-8")
        assert (place / "host_vars/n1.yml").read_text(encoding="utf-8") == "a: 1\n"
        assert (place / "group_vars/n1.yml").read_text(encoding="utf-8") == "a: 1\n"
        assert (place / "host_vars/n2.yml").resolve() == place.resolve() / "host_vars/n0.yml"
        assert (place / "more").resolve() == place.resolve() / "host_vars"
        assert not (place / "pipe").exists()
    assert not place.exists()


def test_a_link_to_a_neighbour_of_the_tree_leads_there_from_a_copy(tmp_path: Path) -> None:
    tree, old = tmp_path / "rendered", tmp_path / "rendered.old"
    for directory in (tree, old):
        directory.mkdir()
    (old / "hosts").write_text("", encoding="utf-8")
    (tree / "hosts").symlink_to(old / "hosts")
    copy = tmp_path / "elsewhere" / "copy"
    kept_files.copy(tree, copy)
    assert (copy / "hosts").resolve() == (old / "hosts").resolve()


@pytest.mark.slow
def test_a_tree_that_is_up_to_date_is_checked_where_it_is(repository: Path, kept: Path) -> None:
    planned, _, _ = target(Path("manifest.yaml"))
    assert planned is not None
    with planned.checkable() as place:
        assert place.resolve() == kept.resolve()


@pytest.mark.parametrize(
    ("head", "nodes", "is_limited", "is_refused"),
    [
        ("192.0.2.9", "192.0.2.[1-4]", True, True),
        ("192.0.3.9", "192.0.2.[1-4]", True, False),
        ("192.0.3.9", "192.0.2.[1-4]", False, True),
        ("192.0.3.9", "192.0.3.[1-4]", False, False),
    ],
)
def test_addresses_of_documentation_are_not_asked(
    head: str, nodes: str, is_limited: bool, is_refused: bool, tmp_path: Path
) -> None:
    """A run for some of the nodes needs one real address, a run for all needs no other."""
    edits = ("10.0.0.0/16", "192.0.0.0/16"), ("10.0.255.1", head), ("10.0.0.[1-4]", nodes)
    made, _, diagnostics = target(write(tmp_path, *edits))
    assert made is not None, diagnostics
    with pytest.raises(ClustergenError, match="have addresses of") if is_refused else nullcontext():
        made.require_addresses(is_limited=is_limited)


@pytest.mark.slow
def test_a_plan_is_not_saved_among_the_files_that_it_is_about(repository: Path, kept: Path) -> None:
    done = run("plan", "--out", "rendered/p.json")
    assert isinstance(done.exception, ClustergenError)
    assert (done.exception.exit_code, "cannot be one of them" in done.exception.message) == (2, True)
    assert not (kept / "p.json").exists()


@pytest.mark.parametrize("verb", [("plan", "--against", "nodes"), ("apply", "--yes")], ids=" ".join)
def test_a_file_in_the_place_of_the_tree_is_named(repository: Path, verb: tuple[str, ...]) -> None:
    (repository / "rendered").write_text("mine\n", encoding="utf-8")
    done = run(*verb)
    assert isinstance(done.exception, ClustergenError)
    assert (done.exception.message, done.exception.hint) == ("rendered is not a directory", "move it away")
    assert (repository / "rendered").read_text(encoding="utf-8") == "mine\n"


@pytest.mark.parametrize("words", [("--limit", ""), ("--limit=",), ("-l", " ,"), ("--lim", ""), ("-v", "-l")])
@pytest.mark.parametrize("verb", [("plan", "--against", "nodes"), ("apply", "--yes")], ids=" ".join)
def test_an_empty_limit_is_not_all_hosts(repository: Path, verb: tuple[str, ...], words: tuple[str, ...]) -> None:
    done = run(*verb, "--", *words)
    assert (done.exit_code, "--limit names no hosts" in done.stderr) == (2, True)


NODES = {"fingerprint": "0" * 64, "changed": [], "unchanged": [], "failed": [], "arguments": []}


def changed(place: Path, **values: object) -> Path:
    """The plan in this file, with other values."""
    place.write_text(json.dumps(json.loads(place.read_text(encoding="utf-8")) | values), encoding="utf-8")
    return place


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"version": 2}, "a plan of version 2"),
        ({"version": "1"}, r"not a plan as clustergen writes it \(at version\)"),
        ({"manifest": 3}, r"\(at manifest\)"),
        ({"tree": {"sha256": 7}}, r"\(at tree.sha256\)"),
        ({"nodes": {}}, r"\(at nodes.fingerprint\)"),
        ({"text": "shown"}, r"\(at text\)"),
        ({"\x1b[2J": 1}, r"\(at \u241b\[2J\)"),
        ({"against": "\ud800"}, "not a plan"),
        *(
            ({"manifest": {"path": path, "sha256": "0" * 64}}, r"\(at manifest.path\)")
            for path in ("/etc/passwd", "../manifest.yaml", "a/../../b", "-", "", "a\0b")
        ),
        *(
            ({"nodes": {**NODES, "arguments": arguments}}, r"\(at nodes.arguments")
            for arguments in (
                ["-e", "@x"], ["--limit"], ["--limit", "-e"], ["--limit", "@x"], ["--limit", ""], ["--limit", "a\n"],
                ["--limit", "a", "-e"],
            )
        ),
    ],
)  # fmt: skip
def test_a_plan_that_was_changed_is_refused(repository: Path, values: dict[str, object], message: str) -> None:
    run("plan", "--out", "p.json")
    place = changed(repository / "p.json", **values)
    with pytest.raises(ClustergenError, match=message):
        saved.read(place)


@pytest.mark.slow
def test_files_of_another_kind_are_no_plan(repository: Path) -> None:
    run("plan", "--out", "p.json")
    assert saved.read(changed(repository / "p.json", kind="x")) is None


@pytest.mark.slow
def test_a_limit_is_kept(repository: Path) -> None:
    run("plan", "--out", "p.json")
    place = changed(repository / "p.json", nodes={**NODES, "arguments": ["--limit", "c[1:4],!c2"]})
    plan = saved.read(place)
    assert plan is not None
    assert plan.arguments == ("--limit", "c[1:4],!c2")


@pytest.mark.parametrize("arguments", [("-e", "x=1"), ("--limit", "@hosts"), ("--limit", "c1", "--become")])
def test_a_saved_plan_holds_no_other_options(repository: Path, arguments: tuple[str, ...]) -> None:
    done = run("plan", "--against", "nodes", "--out", "p.json", "--", *arguments)
    assert isinstance(done.exception, ClustergenError)
    assert done.exception.exit_code == 2
    assert "a saved plan can only hold --limit HOSTS" in done.exception.message
    assert not (repository / "p.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["manifest", "link", "pipe", "device"])
def test_only_a_saved_plan_is_overwritten(repository: Path, kind: str) -> None:
    run("plan", "--out", "p.json")
    out = {"manifest": "manifest.yaml", "device": "/dev/null"}.get(kind, kind)
    if kind == "link":
        (repository / kind).symlink_to("p.json")
    elif kind == "pipe":
        os.mkfifo(repository / kind)
    before = os.lstat(out)
    done = run("plan", "--out", out)
    assert isinstance(done.exception, ClustergenError)
    assert (done.exception.exit_code, done.exception.message) == (
        2, f"{out} is not a saved plan: it is left as it is",
    )  # fmt: skip
    assert (os.lstat(out).st_ino, os.lstat(out).st_mode) == (before.st_ino, before.st_mode)


@pytest.mark.slow
def test_a_saved_plan_is_its_owners_and_may_be_made_again(repository: Path) -> None:
    for _ in range(2):
        assert run("plan", "--out", "p.json").exit_code == 0
        assert (repository / "p.json").stat().st_mode & 0o777 == 0o600


def test_a_saved_plan_names_a_manifest_below_the_current_directory(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "plans").mkdir()
    monkeypatch.chdir(repository / "plans")
    done = run("plan", "../manifest.yaml", "--out", "p.json")
    assert isinstance(done.exception, ClustergenError)
    assert done.exception.exit_code == 2
    assert "in or below the current directory" in done.exception.message


@pytest.mark.parametrize("verb", ["plan", "apply"])
def test_a_manifest_is_not_read_from_standard_input(verb: str) -> None:
    done = run(verb, "-")
    assert done.exit_code == 2
    assert "not read from standard input" in done.stderr


def test_a_limit_without_hosts_is_refused(repository: Path) -> None:
    done = run("apply", "--yes", "--limit", "")
    assert done.exit_code == 2
    assert "--limit names no hosts" in done.stderr


def test_there_is_no_question_without_a_terminal(repository: Path) -> None:
    done = run("apply")
    assert isinstance(done.exception, ClustergenError)
    assert (done.exception.exit_code, done.exception.hint) == (2, "--yes applies without asking")
    assert not (repository / "rendered").exists()


def test_another_target_of_a_link_and_another_mode_are_changes(tmp_path):
    for name in ("vars_a", "vars_b"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "m.yml").write_text(f"is: {name}\n", encoding="utf-8")
    (tmp_path / "host_vars").mkdir()
    link = tmp_path / "host_vars/gpu2"
    link.symlink_to("../vars_a")
    digests = [kept_files.digest(tmp_path, ())]
    link.unlink()
    digests.append(kept_files.digest(tmp_path, ()))
    link.symlink_to("../vars_b")
    digests.append(kept_files.digest(tmp_path, ()))
    (tmp_path / "vars_a/m.yml").chmod(0o755)
    digests.append(kept_files.digest(tmp_path, ()))
    assert len(set(digests)) == 4
