"""The command `clustergen import`: its files, output and exit codes."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from clustergen.cli import group
from clustergen.diagnostics import ClustergenError
from clustergen.verify.slurm_roots import SlurmInstall

DIRECTORIES = Path(__file__).with_name("directories")
PROLOG = "site/slurm_compute/etc/slurm/prolog.d/10-check"


def run(*arguments: str | Path) -> Result:
    return CliRunner().invoke(group, [str(argument) for argument in arguments])


@pytest.mark.slow
def test_the_manifest_on_stdout_and_the_rest_on_stderr() -> None:
    done = run("import", DIRECTORIES / "university", "--slurm-version", "24.11")
    assert done.exit_code == 0
    assert done.stdout.startswith("# yaml-language-server")
    assert "ssh_adopt: false\n\n# To do, as Slurm's files do not contain it:\n# - networks.management: " in done.stdout
    assert "Rendered and compared, as Slurm 24.11 reads them: the same meaning." in done.stderr


@pytest.mark.slow
def test_written_with_its_schema_and_the_sites_files(tmp_path: Path) -> None:
    output = tmp_path / "new/manifest.yaml"
    done = run("import", DIRECTORIES / "gpu-lab", "-o", output)
    assert done.exit_code == 0, done.stderr
    assert "Assumptions and choices to check:\n" in done.stdout
    assert done.stderr.startswith(f"{output}: written, site/")
    assert (tmp_path / "new/clustergen.schema.json").is_file()
    assert os.access(tmp_path / "new/site/slurm_compute/etc/slurm/prolog.d/10-check", os.X_OK)
    assert run("validate", output).exit_code == 0
    rendered = run("render", output)
    assert rendered.exit_code == 0, rendered.stderr
    conf = tmp_path / "new/rendered/overlays/slurm_conf_server/etc/slurm"
    assert "BasePath=/raid/slurm" in (conf / "job_container.conf").read_text()


@pytest.mark.slow
def test_existing_manifests_stay(tmp_path: Path) -> None:
    output = tmp_path / "manifest.yaml"
    output.write_text("mine\n")
    refused = run("import", DIRECTORIES / "university", "-o", output)
    assert isinstance(refused.exception, ClustergenError)
    assert (refused.exception.exit_code, refused.exception.hint) == (3, "choose another -o, or use --force")
    assert output.read_text() == "mine\n"
    assert run("import", DIRECTORIES / "university", "-o", output, "--force").exit_code == 0
    assert "name: physik" in output.read_text()
    # The same once more is no change.
    assert run("import", DIRECTORIES / "university", "-o", output).exit_code == 0


@pytest.mark.slow
def test_a_schema_that_is_there_stays(tmp_path: Path) -> None:
    schema = tmp_path / "clustergen.schema.json"
    schema.write_text("mine\n")
    refused = run("import", DIRECTORIES / "university", "-o", tmp_path / "manifest.yaml")
    assert isinstance(refused.exception, ClustergenError)
    assert refused.exception.message == f"{schema}: already exists"
    assert [path.name for path in tmp_path.iterdir()] == [schema.name]
    assert schema.read_text() == "mine\n"


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize("name", ["manifest.yaml", "clustergen.schema.json", "site", "site/slurm_compute/etc", PROLOG])
@pytest.mark.parametrize(("to", "force"), [("outside", ["--force"]), ("nowhere", [])])
def test_nothing_is_written_through_links(name: str, to: str, force: list[str], tmp_path: Path) -> None:
    """A directory that somebody handed over may hold links out of it where import writes."""
    outside = tmp_path / "outside"
    if "." in name or name == PROLOG:
        outside.write_text("keep\n")
    else:
        outside.mkdir()
    place = tmp_path / "handed-over"
    link = place / name
    link.parent.mkdir(parents=True)
    link.symlink_to(tmp_path / to)
    shutil.copytree(DIRECTORIES / "gpu-lab", place, dirs_exist_ok=True)
    before = sorted(place.rglob("*"))
    done = run("import", place, "-o", place / "manifest.yaml", *force)
    assert isinstance(done.exception, ClustergenError)
    assert done.exception.exit_code == 3
    assert done.exception.message == f"{link}: refusing to write through a symbolic link"
    assert sorted(place.rglob("*")) == before
    assert not (tmp_path / "nowhere").exists()
    assert (list(outside.iterdir()) == []) if outside.is_dir() else (outside.read_text() == "keep\n")


@pytest.mark.slow
def test_all_or_nothing(tmp_path: Path) -> None:
    """The last file cannot be written; those before it are not there either, and no temporary file is left."""
    (tmp_path / "site/slurm_compute").mkdir(parents=True)
    (tmp_path / "site/slurm_compute/etc").write_text("a file\n")
    before = sorted(tmp_path.rglob("*"))
    done = run("import", DIRECTORIES / "gpu-lab", "-o", tmp_path / "manifest.yaml", "--force")
    assert isinstance(done.exception, ClustergenError)
    assert done.exception.exit_code == 3
    assert [path for path in sorted(tmp_path.rglob("*")) if path.is_file()] == [p for p in before if p.is_file()]


@pytest.mark.slow
def test_differences_end_with_1_and_have_reasons(tmp_path: Path) -> None:
    shutil.copytree(DIRECTORIES / "gpu-lab", tmp_path, dirs_exist_ok=True)
    with (tmp_path / "slurm.conf").open("a") as file:
        file.write("SuspendExcStates=DOWN\n")
    done = run("import", tmp_path, "--slurm-version", "22.05")
    assert done.exit_code == 1
    assert "SuspendExcStates: DOWN → nothing" in done.stderr


@pytest.mark.slow
def test_for_programs(tmp_path: Path) -> None:
    done = run("import", DIRECTORIES / "gpu-lab", "--format", "json", "-o", tmp_path / "m.yaml", "--os", "rocky-9")
    assert done.exit_code == 0
    data = json.loads(done.stdout)
    assert data["same"] is True
    assert data["slurm_version"] == "24.11"
    assert data["slurm_version_guessed"] is True
    assert {note["kind"] for note in data["notes"]} >= {"secret", "choice"}
    assert "os: rocky-9" in (tmp_path / "m.yaml").read_text()


def test_not_valid_yet_ends_with_2(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text("ClusterName=c\nNodeName=n1 CPUs=4\nPartitionName=p Nodes=n1\n")
    done = run("import", tmp_path)
    assert done.exit_code == 2
    assert "no node runs slurmctld [controller-missing]" in done.stderr
    assert "name: c\n" in done.stdout


def test_nothing_there_ends_with_3(tmp_path: Path) -> None:
    done = run("import", tmp_path / "nowhere")
    assert isinstance(done.exception, ClustergenError)
    assert done.exception.exit_code == 3


@pytest.mark.parametrize("release", ["x", "99.99", "24"])
def test_an_unknown_release_is_a_wrong_use_as_for_lint(release: str) -> None:
    for verb in ("import", "lint"):
        done = run(verb, DIRECTORIES / "university", "--slurm-version", release)
        code = done.exception.exit_code if isinstance(done.exception, ClustergenError) else done.exit_code
        assert code == 2, verb


@pytest.mark.slow
def test_bare_minutes_that_are_hardly_meant_are_marked(tmp_path: Path) -> None:
    """They are imported as Slurm reads them, with what lint says of them."""
    (tmp_path / "slurm.conf").write_text(
        "ClusterName=c\nSlurmctldHost=h\nPriorityType=priority/multifactor\nPriorityDecayHalfLife=14\n"
        "PriorityMaxAge=7-0\nNodeName=n1 CPUs=4\nPartitionName=p Nodes=n1 Default=YES\n",
        encoding="utf-8",
    )
    done = run("import", tmp_path, "--slurm-version", "24.11")
    assert done.exit_code == 0
    message = "PriorityDecayHalfLife=14: a bare number is in minutes: past usage counts half after 14 minutes"
    assert f'    # CHECK: {message}.\n    half_life: "00:14:00"\n' in done.stdout
    assert "PriorityMaxAge" not in done.stdout
    assert f"slurm.conf:4: {message} (write 14-0 for 14 days)\n" in done.stderr


def test_mistakes_of_the_original_files_lead_to_lint(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(
        "ClusterName=c\nSlurmctldHost=h\nNodeName=n1 CPUs=4\nNodeName=n1 CPUs=8\nPartitionName=p Nodes=n1\n",
        encoding="utf-8",
    )
    done = run("import", tmp_path)
    assert done.exit_code == 2
    assert "host 'n1' is already defined by the entry 'n1' (line" in done.stderr
    assert done.stderr.splitlines()[-1] == (
        f"  hint: `clustergen lint {tmp_path}` shows mistakes of the original files at their lines"
    )


def test_an_operating_system_is_guessed() -> None:
    done = run("import", "--os", "rocky9", DIRECTORIES / "university")
    assert done.exit_code == 2
    assert "did you mean 'rocky-9'?" in done.stderr


@pytest.mark.real
@pytest.mark.many
def test_register_reports_nodes_of_the_original_files_that_slurmctld_refuses(
    slurm: SlurmInstall, tmp_path: Path
) -> None:
    directory = tmp_path / "slurm"
    directory.mkdir()
    conf = (
        "ClusterName=test\nSlurmctldHost=head\nSlurmUser=slurm\nStateSaveLocation=/var/spool/slurmctld\nGresTypes=gpu\n"
    )
    size = "Sockets=2 CoresPerSocket=8 RealMemory=64000"
    nodes = [f"NodeName={name}[1-2] {size} Gres=gpu:2\n" for name in ("right", "less")]
    lines = f"{conf}{''.join(nodes)}PartitionName=all Nodes=ALL Default=YES\n"
    (directory / "slurm.conf").write_text(lines, encoding="utf-8")
    gres = "NodeName=right[1-2] Name=gpu File=/dev/nvidia[0-1]\nNodeName=less[1-2] Name=gpu File=/dev/nvidia0\n"
    (directory / "gres.conf").write_text(gres, encoding="utf-8")
    command = ("import", directory, "--slurm-version", slurm.release, "--format", "json")
    plain, done = (json.loads(run(*command, *more).stdout) for more in ((), ("--register",)))
    assert plain["unregistered"] == []
    (row,) = done["unregistered"]
    assert (row["place"], row["code"]) == ("slurm.conf:7", "node-registration")
    assert "less1 is DRAIN+INVALID_REG: gres/gpu count reported lower than configured (1 < 2)" in row["message"]
    text = run("import", directory, "--slurm-version", slurm.release, "-o", tmp_path / "m.yaml", "--register")
    assert text.exit_code == 1
    assert f"Slurm {slurm.release} refuses nodes of these lines:\n  slurm.conf:7: slurmctld: less1" in text.stdout
    assert f"registration: Slurm {slurm.version} was asked about 2 of 2 kinds" in text.stderr
