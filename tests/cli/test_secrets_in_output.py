"""A secret in a user's files is in no output of any verb, also behind a misspelt or an unknown name."""

import json
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest
from click.testing import CliRunner

from clustergen.cli import group
from clustergen.diagnostics import FORMATS, Diagnostic, Place, Severity
from clustergen.diagnostics.redaction import Redactions, redacted
from clustergen.hardware.drift.compare import folded
from clustergen.hardware.drift.model import DriftFinding
from strategies.trees import manifest

PART = "Wint3rSun"
SECRET = f"{PART}zX{PART}"  # is cut by no message, and has no part that is an ordinary word
LONG = SECRET * 6  # is cut by messages
SLURM_CONF = """\
ClusterName=x
SlurmctldHost=head
StateSaveLocation=/var/spool/slurmctld
SlurmUser=slurm
NodeName=n[1-4] CPUs=8
PartitionName=a Nodes=ALL Default=YES
{line}
"""
LINES = (
    "JobCompPas={secret}",
    "JobCompPass={secret} and {secret}",
    "StoragePas={secret}",
    "AccountingStoragPass={secret}",
    "storagepas={secret}",
    "AuthInfo=secret={secret}",
    "SlurmctldParameters=token={secret},idle_on_node_suspend",
    "DbdAuthInfo=password={secret}",
    "HashPlugin={secret}",
    "SchedulerParameters=bf_window={secret}",
    "FooBar={secret}",
    "PartitionName=b Nodes=ALL Pasword={secret}",
    "MailProg=/bin/mail --pass {secret}",
    "Epilog=curl -u admin:{secret} http://x",
)


def run(*words: str | Path) -> str:
    result = CliRunner().invoke(group, [str(word) for word in words])
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result.output + (result.stderr if result.stderr_bytes else "")


def check_lint(lines: Iterable[str], secret: str, directory: Path) -> None:
    (directory / "slurm.conf").write_text(SLURM_CONF.format(line="\n".join(lines).format(secret=secret)))
    for form in FORMATS:
        assert PART not in run("lint", directory, "--format", form), form


def check_import(lines: Iterable[str], directory: Path) -> str:
    (directory / "etc").mkdir()
    (directory / "etc" / "slurm.conf").write_text(SLURM_CONF.format(line="\n".join(lines).format(secret=SECRET)))
    for form in ("text", "json"):
        output = directory / f"{form}.yaml"
        assert PART not in run("import", directory / "etc", "-o", output, "--format", form), form
    return output.read_text()


@pytest.mark.slow
@pytest.mark.parametrize("secret", [SECRET, LONG], ids=["short", "long"])
def test_lint_shows_none(secret: str, tmp_path: Path) -> None:
    check_lint(LINES, secret, tmp_path)


@pytest.mark.slow
def test_import_shows_none_and_takes_over_none(tmp_path: Path) -> None:
    assert PART not in check_import(LINES, tmp_path)


@pytest.mark.long
@pytest.mark.parametrize("line", LINES)
def test_lint_and_import_show_none_of_a_single_line(line: str, tmp_path: Path) -> None:
    check_lint([line], SECRET, tmp_path)
    text = check_import([line], tmp_path)
    assert PART not in text or line.startswith(("HashPlugin", "Scheduler"))  # which are no secret's, and wrong


@pytest.mark.slow
@pytest.mark.parametrize("line", ["StoragePas={secret}", "StoragPass={secret}", "AuthInfo=secret={secret}"])
def test_slurmdbd_conf_is_masked_too(line: str, tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(SLURM_CONF.format(line=""))
    (tmp_path / "slurmdbd.conf").write_text(f"DbdHost=head\n{line.format(secret=SECRET)}\n")
    assert PART not in run("lint", tmp_path)
    assert PART not in run("import", tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        {"slurm": {"version": "24.11", "tokn": SECRET, "options": {"JobCompPas": SECRET, "HashPlugin": SECRET}}},
        {
            "slurm": {
                "version": "24.11",
                "options": {"HashPlugin": LONG, "FooBar": SECRET, "SlurmctldParameters": f"token={SECRET}"},
            },
            "ansible": {"variables": {"db_pasword": SECRET}},
        },
        {"bogus": SECRET, "ansible": {"bogus_pasword": SECRET, "forks": SECRET}},
        {"description": f"the password is {SECRET}"},
    ],
    ids=lambda change: json.dumps(change)[:60],
)
def test_validate_and_diff_show_none(change: dict[str, object], tmp_path: Path) -> None:
    path, other = tmp_path / "manifest.yaml", tmp_path / "other.yaml"
    path.write_text(json.dumps(manifest(**change), indent=1))
    other.write_text(json.dumps(manifest()))
    for form in FORMATS:
        assert PART not in run("validate", path, "--format", form), form
    assert PART not in run("-v", "diff", path, other)


@pytest.mark.slow
@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_diff_of_trees_shows_no_secret_that_was_written_into_one(form: str, tmp_path: Path) -> None:
    (tmp_path / "manifest.yaml").write_text(json.dumps(manifest()))
    run("render", tmp_path / "manifest.yaml", "-o", tmp_path / "new")
    shutil.copytree(tmp_path / "new", tmp_path / "old")
    (conf,) = tmp_path.glob("old/overlays/*/etc/slurm/slurm.conf")
    conf.write_text(conf.read_text() + f"JobCompPass={SECRET}\nMailProg=/bin/mail --token {SECRET}\n")
    shown = run("diff", tmp_path / "old", tmp_path / "new", "--format", form)
    assert "JobCompPass" in shown
    assert PART not in shown


@pytest.mark.slow
def test_the_line_of_a_template_is_masked(tmp_path: Path) -> None:
    (tmp_path / "manifest.yaml").write_text(json.dumps(manifest()))
    template = tmp_path / "site/all/etc/x.conf.j2"
    template.parent.mkdir(parents=True)
    template.write_text(f"password = {SECRET}{{{{ cluster.nothing }}}}\n")
    shown = run("render", tmp_path / "manifest.yaml")
    assert "site-template-fails" in shown
    assert PART not in shown


def test_a_correction_is_shown_without_the_password_beside_it(tmp_path: Path) -> None:
    (tmp_path / "slurm.conf").write_text(SLURM_CONF.format(line=f"FastSchedule=1\nJobCompPass={SECRET}"))
    shown = run("lint", tmp_path, "--diff")
    assert "-FastSchedule=1" in shown
    assert PART not in shown


def test_a_nodes_text_is_masked_in_drift() -> None:
    (finding,) = folded([DriftFinding("slurm-drained", ("n1",), "state", f"DRAIN (root password: {SECRET})")])
    assert PART not in finding.message
    assert "DRAIN (root password:" in finding.message


def test_a_programs_words_are_masked() -> None:
    assert redacted(f"error: Parse error: StoragePas={SECRET} at line 3") == (
        f"error: Parse error: StoragePas={'•' * len(SECRET)} •• •••• •"
    )


@pytest.mark.slow
def test_a_file_of_secrets_makes_messages_repeat_nothing() -> None:
    """With too many words to look for, what is in quotes is masked."""
    text = "".join(f"StoragePas=x{number}\n" for number in range(3000))
    findings = [
        Diagnostic("slurm-key-unknown", Severity.ERROR, Place("f", number, 1, 11), f"'x{number - 1}' is wrong")
        for number in range(1, 3001)
    ]
    redactions = Redactions({"f": text}, findings)
    assert redactions.diagnostic(findings[7]).message == "•••• is wrong"
