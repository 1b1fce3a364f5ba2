"""The command `clustergen lint`: streams, output formats and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clustergen.cli import main
from clustergen.diagnostics import ClustergenError
from clustergen.lint.run import lint

GOOD = """ClusterName=c
SlurmctldHost=ctl
SlurmUser=slurm
StateSaveLocation=/var/spool/slurmctld
NodeName=n[1-4] Sockets=2 CoresPerSocket=8 RealMemory=64000
PartitionName=batch Nodes=ALL Default=YES
"""


def run(capfd: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str, str]:
    """Exit code, stdout, stderr."""
    with pytest.raises(SystemExit) as ended:
        main(["lint", *map(str, words)])
    out, err = capfd.readouterr()
    return int(ended.value.code or 0), out, err


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "slurm.conf").write_text(GOOD)
    return tmp_path


def test_nothing_to_say(directory: Path, capfd: pytest.CaptureFixture[str]) -> None:
    for path in (directory, directory / "slurm.conf"):
        code, out, err = run(capfd, path, "--slurm-version", "24.11.5")
        assert (code, out) == (0, f"{path}: no findings.\n")
        assert err == "slurm.conf: read as Slurm 24.11.\n"


def test_notes_alone_are_no_failure(directory: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (directory / "slurm.conf").write_text(GOOD.replace("SlurmctldHost", "ControlMachine"))
    code, out, err = run(capfd, directory)
    assert code == 0
    assert "info[slurm-key-old-name]" in out
    assert "the newest release" in err


def test_keys_that_other_releases_do_not_read_are_one_remark(
    directory: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Where the release is a guess; who names one is told of that one."""
    more = "NodeFeaturesPlugins=node_features/knl_generic\nSchedulerParameters=defer_batch\n"
    (directory / "slurm.conf").write_text(GOOD + more)
    err = run(capfd, directory)[2].splitlines()
    assert err[-2:] == [
        "slurm.conf: read as Slurm 25.05, the newest release that accepts all keys; change it with --slurm-version.",
        "Other releases do not read all of it: 22.05: SchedulerParameters=defer_batch (slurm.conf:8); "
        "25.11 and newer: NodeFeaturesPlugins=node_features/knl_generic (slurm.conf:7).",
    ]
    assert "Other releases" not in run(capfd, directory, "--slurm-version", "25.05")[2]
    (directory / "slurm.conf").write_text(GOOD + "MetricsType=metrics/openmetrics\nMetricsType=metrics/openmetrics\n")
    assert run(capfd, directory)[2].splitlines()[-1] == (
        "Other releases do not read all of it: 22.05 to 25.05: MetricsType (slurm.conf:7)."
    )
    (directory / "slurm.conf").write_text(GOOD)
    assert "Other releases" not in run(capfd, directory)[2]


def test_formats_for_programs_go_to_stdout(directory: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (directory / "slurm.conf").write_text(GOOD + "Foo=1\n")
    code, out, err = run(capfd, directory, "--format", "json")
    assert (code, err) == (1, "")
    [result] = json.loads(out)["diagnostics"]
    assert (result["code"], result["file"], result["line"], result["column"]) == (
        "slurm-key-unknown",
        str(directory / "slurm.conf"),
        7,
        1,
    )
    assert "::error file=" in run(capfd, directory, "--format", "github")[1]
    assert json.loads(run(capfd, directory, "--format", "sarif")[1])["version"] == "2.1.0"


@pytest.mark.slow
def test_equal_findings_are_printed_once_with_their_lines(directory: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (directory / "slurm.conf").write_text(GOOD + "Foo=1\n" * 500)
    out = run(capfd, directory)[1]
    assert out.count("error[slurm-key-unknown]") == 1
    assert "(500 times, also on lines 8, 9, 10, 11, 12, 13, 14, 15 and 491 more)\n" in out
    assert out.endswith("\n500 errors\n")
    assert len(json.loads(run(capfd, directory, "--format", "json")[1])["diagnostics"]) == 500


@pytest.mark.slow
def test_many_findings_are_cut_in_text_only(directory: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (directory / "slurm.conf").write_text(GOOD + "".join(f"Foo{number}=1\n" for number in range(500)))
    out = run(capfd, directory)[1]
    assert out.count("is not a key of slurm.conf in any release") == 20
    assert "and 480 more" in out
    assert out.endswith("\n500 errors\n")
    assert len(json.loads(run(capfd, directory, "--format", "json")[1])["diagnostics"]) == 500


def test_diff_writes_nothing_and_fix_writes(directory: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (directory / "slurm.conf").write_text(GOOD + "FastSchedule=1\n")
    for options in (["--diff"], ["--fix", "--diff"]):
        code, out, _ = run(capfd, directory, *options)
        assert code == 1
        assert "\n-FastSchedule=1\n" in out
        assert (directory / "slurm.conf").read_text() == GOOD + "FastSchedule=1\n"
    code, _, err = run(capfd, directory, "--fix")
    assert code == 0
    assert "1 fixed." in err
    assert (directory / "slurm.conf").read_text() == GOOD


def test_a_tree_laid_out_as_on_the_node(directory: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "root/etc/slurm").mkdir(parents=True)
    (directory / "slurm.conf").rename(tmp_path / "root/etc/slurm/slurm.conf")
    assert run(capfd, tmp_path / "root")[0] == 0


def test_unread_files_are_named(directory: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (directory / "scrun.lua").write_text("")
    (directory / "values.yaml").write_text("")  # no file of Slurm's
    (directory / "resources.yaml").write_text("")
    (directory / "more.conf").write_text("TCPTimeout=3\n")
    (directory / "slurm.conf").write_text(GOOD + "Include more.conf\n")
    assert run(capfd, directory)[2].endswith("\nnot checked: resources.yaml, scrun.lua.\n")


@pytest.mark.parametrize("name", ["gone", "empty"])
def test_nothing_to_read(name: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "empty").mkdir()
    code, out, err = run(capfd, tmp_path / name)
    assert (code, out) == (3, "")
    assert err.startswith(f"clustergen: {tmp_path / name}: ")


@pytest.mark.parametrize("version", ["24", "latest", "19.05", "30.05"])
def test_releases_that_are_not_known(version: str, directory: Path) -> None:
    from clustergen.cli import group

    result: Result = CliRunner().invoke(group, ["lint", str(directory), "--slurm-version", version])
    assert result.exit_code == 2
    assert "use one of 22.05, 23.02" in result.output


def test_a_rendered_tree_has_its_files_further_down(tmp_path: Path) -> None:
    place = tmp_path / "overlays/slurm_node/etc/slurm"
    place.mkdir(parents=True)
    (place / "slurm.conf").write_text("ClusterName=c\n")
    with pytest.raises(ClustergenError) as error:
        lint(tmp_path)
    assert error.value.hint == f"run clustergen lint {place}"
