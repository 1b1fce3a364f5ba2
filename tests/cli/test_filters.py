"""--select, --ignore, comments, --baseline, --statistics and --exit-zero of `validate` and `lint`."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clustergen.cli import group
from clustergen.cli.writing import write_own
from clustergen.diagnostics import ClustergenError, baseline

MANIFEST = """\
name: tiny
os: debian-13
networks:
  management: {cidr: 10.0.0.0/24, domain: tiny.example.org, ntp: [pool.ntp.org]}
node_types:
  h100: {system: dgx-h100}
nodes:
  - {name: head, type: service, address: 10.0.0.1, roles: [slurm-controller, login, login]}
  - {name: "gpu[1-4]", type: h100, address: "10.0.0.[11-14]"}
slurm: {version: "24.11"}
"""
ROLES = "roles: [slurm-controller, login, login]}"
CONF = """\
ClusterName=c
ControlMachine=ctl
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
NodeName=n[1-4] Sockets=2 CoresPerSocket=8 RealMemory=64000
PartitionName=batch Nodes=n[1-5] Default=YES
Foo=1
"""


def run(*words: str) -> Result:
    return CliRunner().invoke(group, words)


@pytest.fixture(autouse=True)
def _directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("manifest.yaml").write_text(MANIFEST)
    Path("slurm.conf").write_text(CONF)


def lint(*words: str) -> Result:
    return run("lint", "slurm.conf", "--slurm-version", "24.11", *words)


def codes(done: Result) -> list[str]:
    return [item["code"] for item in json.loads(done.stdout)["diagnostics"]]


# --- --select, --ignore -----------------------------------------------------------------------------------------------


def test_selected_codes_alone_are_reported_and_count() -> None:
    everything = ["slurm-key-old-name", "node-unknown", "slurm-key-unknown"]
    assert codes(lint("--format", "json")) == everything
    assert codes(lint("--format", "json", "--select", "slurm-key")) == ["slurm-key-old-name", "slurm-key-unknown"]
    assert codes(lint("--format", "json", "--ignore", "node-unknown,slurm-key-unknown")) == everything[:1]
    assert lint("--ignore", "node-unknown,slurm-key-unknown").exit_code == 0
    assert lint("--select", "gres").stdout == "slurm.conf: no findings.\n"


@pytest.mark.parametrize("option", ["--select", "--ignore"])
@pytest.mark.parametrize("words", [("lint", "slurm.conf"), ("validate", "manifest.yaml")])
def test_an_unknown_code_is_a_wrong_use(option: str, words: tuple[str, str]) -> None:
    done = run(*words, option, "slurm-key-unkown")
    assert done.exit_code == 2
    assert "did you mean 'slurm-key-unknown'?" in done.stderr


def test_errors_of_a_manifest_are_reported_whatever_is_selected() -> None:
    Path("manifest.yaml").write_text(MANIFEST.replace("[11-14]", "[11-13]"))
    for words in (("--select", "role-repeated"), ("--ignore", "address-count"), ("--ignore", "role-repeated")):
        done = run("validate", "manifest.yaml", *words)
        assert done.exit_code == 2
        assert "error[address-count]" in done.stdout
    assert "role-repeated" not in run("validate", "manifest.yaml", "--ignore", "role-repeated").stdout


def test_fix_changes_what_is_reported_alone() -> None:
    Path("slurm.conf").write_text(CONF + "FastSchedule=1\n")
    assert "-FastSchedule" not in lint("--diff", "--select", "slurm-key-old-name").stdout
    done = lint("--fix", "--select", "slurm-key-old-name")
    assert "1 fixed." in done.stderr
    assert Path("slurm.conf").read_text() == CONF.replace("ControlMachine", "SlurmctldHost") + "FastSchedule=1\n"


# --- comments ---------------------------------------------------------------------------------------------------------


def test_comments_in_slurm_conf_and_what_they_leave_to_programs() -> None:
    text = CONF.replace(
        "ControlMachine=ctl", "# clustergen: ignore[slurm-key-old-name] read by 22.05\nControlMachine=ctl"
    )
    Path("slurm.conf").write_text(text + "# clustergen: ignore-file[node-unknown] n5 comes in June\n")
    done = lint()
    assert "slurm-key-old-name" not in done.stdout
    assert "\n1 error\n" in done.stdout
    assert "suppressed: 2 by comments." in done.stderr
    document = json.loads(lint("--format", "json").stdout)
    assert document["counts"] == {"error": 1, "warning": 0, "info": 0}
    assert [(one["code"], one["suppression"]) for one in document["suppressed"]] == [
        ("slurm-key-old-name", {"kind": "comment", "reason": "read by 22.05"}),
        ("node-unknown", {"kind": "comment", "reason": "n5 comes in June"}),
    ]
    results = json.loads(lint("--format", "sarif").stdout)["runs"][0]["results"]
    assert {one["ruleId"]: one["suppressions"] for one in results} == {
        "slurm-key-unknown": [],
        "slurm-key-old-name": [{"kind": "inSource", "justification": "read by 22.05"}],
        "node-unknown": [{"kind": "inSource", "justification": "n5 comes in June"}],
    }
    assert "node-unknown" not in lint("--format", "github").stdout


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["validate", "render"])
def test_a_comment_in_a_manifest(verb: str) -> None:
    assert "role-repeated" in run(verb, "manifest.yaml").stdout
    text = MANIFEST.replace(ROLES, f"{ROLES}  # clustergen: ignore[role-repeated] made by a tool")
    Path("manifest.yaml").write_text(text)
    done = run(verb, "manifest.yaml")
    assert (done.exit_code, "role-repeated" in done.stdout) == (0, False)
    document = json.loads(run(verb, "manifest.yaml", "--format", "json").stdout)
    assert [one["code"] for one in document["suppressed"]] == ["role-repeated"]


def test_a_comment_does_not_make_a_manifest_valid() -> None:
    text = MANIFEST.replace('[11-14]"}', '[11-13]"}  # clustergen: ignore[address-count] for now')
    Path("manifest.yaml").write_text(text)
    done = run("validate", "manifest.yaml")
    assert done.exit_code == 2
    assert "error[address-count]" in done.stdout
    assert "'address-count' is an error, which no comment suppresses" in done.stdout


@pytest.mark.parametrize(
    "value",
    [
        '"a # clustergen: ignore-file[role-repeated] b"',
        "'a # clustergen: ignore-file[role-repeated] b'",
        ">-\n  a # clustergen: ignore-file[role-repeated] b",
    ],
)
def test_a_value_that_looks_like_a_comment_is_none(value: str) -> None:
    Path("manifest.yaml").write_text(MANIFEST + f"description: {value}\n")
    done = run("validate", "manifest.yaml", "--format", "json")
    assert done.exit_code == 0
    assert codes(done) == ["role-repeated"]


def test_a_comment_without_use_is_a_note() -> None:
    Path("manifest.yaml").write_text(f"# clustergen: ignore-file[node-type-unused] planned\n{MANIFEST}")
    assert "info[suppression-unused]" in run("validate", "manifest.yaml").stdout
    assert "suppression-unused" not in run("validate", "manifest.yaml", "--ignore", "suppression-unused").stdout


# --- --baseline -------------------------------------------------------------------------------------------------------


def test_a_baseline_leaves_what_is_new() -> None:
    done = lint("--baseline", "baseline.json", "--write-baseline")
    assert (done.exit_code, done.stdout) == (0, "slurm.conf: no findings.\n")
    assert "baseline.json: 3 findings written." in done.stderr
    assert "suppressed: 3 by the baseline." in done.stderr
    Path("slurm.conf").write_text("# a line more\n" + CONF + "Bar=1\n")
    done = lint("--baseline", "baseline.json", "--format", "json")
    assert (done.exit_code, codes(done)) == (1, ["slurm-key-unknown"])
    assert "'Bar'" in json.loads(done.stdout)["diagnostics"][0]["message"]
    assert {one["suppression"]["kind"] for one in json.loads(done.stdout)["suppressed"]} == {"baseline"}


def test_the_second_of_two_alike_is_new() -> None:
    lint("--baseline", "baseline.json", "--write-baseline")
    Path("slurm.conf").write_text(CONF + "Foo=2\n")
    assert codes(lint("--baseline", "baseline.json", "--format", "json")) == ["slurm-key-unknown"]


def test_a_baseline_holds_wherever_the_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lint("--baseline", "baseline.json", "--write-baseline")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    words = ("lint", str(tmp_path), "--slurm-version", "24.11", "--baseline", "../baseline.json")
    assert run(*words).exit_code == 0


def test_vanished_findings_are_counted() -> None:
    lint("--baseline", "baseline.json", "--write-baseline")
    Path("slurm.conf").write_text(CONF.replace("Foo=1\n", ""))
    assert "gone since the baseline: 1; --write-baseline updates it." in lint("--baseline", "baseline.json").stderr
    some = lint("--baseline", "baseline.json", "--ignore", "slurm-key-unknown")
    assert "gone" not in some.stderr, "a run that leaves codes out cannot count them"


def test_a_baseline_of_a_manifest_holds_no_errors() -> None:
    Path("manifest.yaml").write_text(MANIFEST.replace("[11-14]", "[11-13]"))
    done = run("validate", "manifest.yaml", "--baseline", "b.json", "--write-baseline")
    assert done.exit_code == 2
    assert "role-repeated" in Path("b.json").read_text()
    assert "address-count" not in Path("b.json").read_text()


def entry(**changes: object) -> str:
    """A baseline of one finding, with some of its values changed."""
    row = {"file": "slurm.conf", "code": "node-unknown", "message": "m", "count": 1, **changes}
    return json.dumps({"version": 1, "findings": [row]})


NO_BASELINE = {
    "empty": "",
    "no JSON": "no json",
    "nested too deeply": "[" * 200_000,
    "a list": "[]",
    "another version": '{"version": 2, "findings": []}',
    "no findings": '{"version": 1}',
    "findings that are no list": '{"version": 1, "findings": {}}',
    "more than a baseline": '{"version": 1, "findings": [], "name": "tiny"}',
    "a finding that is text": '{"version": 1, "findings": ["m"]}',
    "an endless count": entry(count=float("inf")),
    "a negative count": entry(count=-1),
    "no finding at all": entry(count=0),
    "half a finding": entry(count=1.5),
    "a count that is a truth": entry(count=True),
    "a count beyond reason": entry(count=10**4000),
    "a code that is a number": entry(code=1),
    "a key that no finding has": entry(line=1),
}


def refused(done: Result, code: int) -> str:
    """The message that ended the command with this exit code: one line."""
    assert isinstance(done.exception, ClustergenError)
    assert done.exception.exit_code == code
    assert "\n" not in done.exception.message
    return done.exception.message


def test_a_baseline_of_another_user_is_read() -> None:
    Path("b.json").write_text(entry())
    assert "gone since the baseline: 1" in lint("--baseline", "b.json").stderr


@pytest.mark.parametrize("content", NO_BASELINE.values(), ids=NO_BASELINE)
def test_a_file_that_is_no_baseline(content: str) -> None:
    Path("b\nc.json").write_text(content)
    assert refused(lint("--baseline", "b\nc.json"), 3) == "b␊c.json is not a baseline of clustergen"
    assert "b␊c.json is left as it is" in refused(lint("--baseline", "b\nc.json", "--write-baseline"), 2)
    assert Path("b\nc.json").read_text() == content


def test_a_baseline_that_is_missing() -> None:
    done = lint("--baseline", "b.json")
    refused(done, 3)
    assert getattr(done.exception, "hint", None) == "--write-baseline writes it"


@pytest.mark.parametrize("file", ["manifest.yaml", "slurm.conf"])
@pytest.mark.parametrize("words", [("validate", "manifest.yaml"), ("lint", "slurm.conf", "--fix")])
def test_only_a_baseline_is_replaced(words: tuple[str, ...], file: str) -> None:
    done = run(*words, "--baseline", file, "--write-baseline")
    assert refused(done, 2) == f"{file} is left as it is: it is not a baseline of clustergen"
    assert (Path("manifest.yaml").read_text(), Path("slurm.conf").read_text()) == (MANIFEST, CONF)


def test_an_output_that_is_no_file_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo("pipe")
    Path("real.json").write_text(entry())
    Path("link.json").symlink_to("real.json")
    Path("dangling.json").symlink_to("gone.json")
    for file, reason in {
        "pipe": "it is a pipe or a device, not a file",
        "/dev/null": "it is a pipe or a device, not a file",
        "link.json": "it is a symbolic link, not a file",
        "dangling.json": "it is a symbolic link, not a file",
    }.items():
        assert refused(lint("--baseline", file, "--write-baseline"), 2) == f"{file} is left as it is: {reason}"
    assert lint("--baseline", str(tmp_path), "--write-baseline").exit_code == 2
    assert Path("pipe").is_fifo()
    assert Path("link.json").is_symlink()
    assert Path("real.json").read_text() == entry()


def test_a_replaced_baseline_keeps_its_permissions() -> None:
    Path("b.json").write_text(entry())
    Path("b.json").chmod(0o640)
    before = Path("b.json").stat().st_ino
    assert lint("--baseline", "b.json", "--write-baseline").exit_code == 0
    after = Path("b.json").stat()
    assert (stat.S_IMODE(after.st_mode), after.st_ino == before) == (0o640, False)
    assert len(json.loads(Path("b.json").read_text())["findings"]) == 3


def test_a_baseline_holds_names_of_any_bytes() -> None:
    name = os.fsdecode(b"slurm-\xff")
    Path(name).mkdir()
    (Path(name) / "slurm.conf").write_text(CONF)
    words = ("lint", name, "--slurm-version", "24.11", "--baseline", "b.json")
    assert run(*words, "--write-baseline").exit_code == 0
    assert run(*words).exit_code == 0


def test_a_baseline_is_written_to_a_file_that_is_named() -> None:
    assert lint("--write-baseline").exit_code == 2


# --- --statistics, --exit-zero, neighbours ----------------------------------------------------------------------------


def test_statistics_count_codes() -> None:
    Path("slurm.conf").write_text(CONF + "Bar=1\n")
    done = lint("--statistics")
    assert done.exit_code == 1
    assert [line.split()[:3] for line in done.stdout.splitlines()] == [
        ["2", "error", "slurm-key-unknown"],
        ["1", "error", "node-unknown"],
        ["1", "info", "slurm-key-old-name"],
    ]
    assert "role-repeated" in run("validate", "manifest.yaml", "--statistics").stdout
    assert lint("--statistics", "--format", "json").exit_code == 2


def test_findings_can_be_no_failure_but_what_cannot_be_read_is() -> None:
    assert lint("--exit-zero").exit_code == 0
    assert run("validate", "gone.yaml", "--exit-zero").exit_code == 3
    Path("manifest.yaml").write_text(MANIFEST.replace("[11-14]", "[11-13]"))
    assert run("validate", "manifest.yaml", "--exit-zero").exit_code == 0


def test_a_single_file_has_no_neighbours() -> None:
    Path("scrun.lua").write_text("", encoding="utf-8")
    assert "not checked" not in lint().stderr
    assert "not checked: scrun.lua.\n" in run("lint", ".").stderr  # manifest.yaml is not Slurm's


def test_diff_shows_the_changes_alone() -> None:
    assert lint("--diff").stdout.startswith("--- a/slurm.conf\n")
    assert "node-unknown" not in lint("--diff").stdout


def test_a_file_that_appears_while_a_baseline_is_written_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the first look at its place and the last step, somebody puts a manifest there."""
    place = tmp_path / "baseline.json"
    fchmod = os.fchmod

    def meanwhile(descriptor: int, mode: int) -> None:
        fchmod(descriptor, mode)
        place.write_text("name: mine\n")

    for previous in (None, baseline.text((), place)):
        place.unlink(missing_ok=True)
        if previous is not None:
            place.write_text(previous)
        with monkeypatch.context() as patch:
            patch.setattr(os, "fchmod", meanwhile)
            with pytest.raises(ClustergenError, match="is left as it is"):
                write_own(place, b"new", baseline.replaced_mode)
        assert place.read_text() == "name: mine\n"
    assert not list(tmp_path.glob(".clustergen.*"))
    place.unlink()
    write_own(place, baseline.text((), place).encode(), baseline.replaced_mode)
    assert place.stat().st_nlink == 1
    assert baseline.read(place) == {}
