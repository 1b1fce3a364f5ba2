"""Programs that root or SlurmUser runs, in directories where users can replace them: in a manifest and in files."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.catalogue.tables import rows
from clustergen.slurmrules.programs import _BY_FORM
from strategies.findings import TINY, changed, findings
from strategies.lint_reports import HEAD, report

CODE = "program-writable"
STORAGE = """\
storage:
  home: {type: nfs, server: filer, path: /home, mount: /nfs/home}
  apps: {type: nfs, server: filer, path: /apps, mount: /nfs/apps, read_only: true}
  tools: {type: nfs, server: filer, path: /tools, mount: /nfs/tools, options: [ro]}
  state: {type: nfs, server: filer, path: /state, mount: /nfs/state, clients: [slurm-controller]}
  disk: {type: local, device: LABEL=A, mount: /disk}
"""


def warned(fields: str, *, version: str = "24.11") -> list[str]:
    """The texts that are warned about."""
    text = changed(TINY, ('{version: "24.11"}', f'{{version: "{version}", {fields}}}')) + STORAGE
    return [place for code, place in findings(text) if code == CODE]


PROGRAMS = [row for row in rows("slurm_keys.tsv") if row["program"]]


@pytest.mark.parametrize("key", [row["key"] for row in PROGRAMS if row["file"] == "slurm.conf"])
def test_every_program_of_slurm_conf(key: str) -> None:
    paths = {"PluginDir": "/usr/lib/slurm:/tmp/x", "CertmgrParameters": "a=1,sign_csr_script=/tmp/x"}
    paths |= {"CertgenParameters": "keygen_script=/tmp/x", "JobCompLoc": "/tmp/x"}
    text = paths.get(key, "/tmp/x")
    if key == "Program":
        assert warned(f"lines: [{{PowerAction: on, Program: {text}}}]", version="26.05") == ["/tmp/x"]
    elif key == "RebootProgram":
        assert warned(f"reboot_program: {text}") == ["/tmp/x"]
    else:
        beside = ", JobCompType: jobcomp/script" if key == "JobCompLoc" else ""
        assert warned(f"options: {{{key}: '{text}'{beside}}}", version="26.05") == ["/tmp/x"]


def test_the_table_has_known_words() -> None:
    users, forms, *_ = zip(*(f"{row['program']} -".split()[:3] for row in PROGRAMS), strict=True)
    assert set(users) == {"root", "SlurmUser", "user"}
    assert set(forms) == set(_BY_FORM)


@pytest.mark.parametrize(
    ("path", "is_warned"),
    [
        ("/tmp/x", True),
        ("//tmp/./x", True),
        ("/usr/../var/tmp/x", True),
        ("/dev/shm/x", True),
        ("/run/user/1000/x", True),
        ("/var/lock/x", True),
        ("/home/alice/x", True),
        ("/nfs/home/alice/x", True),
        ("/scratch/jobs/x", True),
        ("/nfs/apps/x", False),
        ("/nfs/tools/x", False),
        ("/nfs/tools/../home/x", True),
        ("/nfs/state/x", False),
        ("/nfs/homes/x", False),
        ("/disk/x", False),
        ("/etc/slurm/prolog.d/*", False),
        ("/usr/local/bin/x", False),
        ("relative", False),
    ],
)
def test_where_users_write(path: str, is_warned: bool) -> None:
    assert warned(f"scripts: {{tmpdir: /scratch/jobs, prolog: false}}, options: {{Prolog: '{path}'}}") == (
        [f"'{path}'"] if is_warned and "*" in path else [path] if is_warned else []
    )


def test_slurm_user_may_run_what_is_in_its_home() -> None:
    assert warned("options: {ResumeProgram: /home/slurm/x}") == []
    assert warned("user: power, options: {ResumeProgram: /home/slurm/x}") == ["/home/slurm/x"]
    assert warned("options: {Prolog: /home/slurm/x}") == ["/home/slurm/x"]


def test_a_log_of_jobs_is_no_program() -> None:
    assert warned("options: {JobCompType: jobcomp/filetxt, JobCompLoc: /nfs/home/jobs.log}") == []


def test_slurmdbd_runs_programs_too() -> None:
    text = changed(TINY, ("[slurm-controller]", "[slurm-controller, slurm-accounting]"))
    text = changed(text, ('"24.11"}', '"24.11", accounting: {options: {ArchiveScript: /tmp/x}}}'))
    assert (CODE, "/tmp/x") in findings(text)


def test_lint_reads_every_file_that_names_programs(tmp_path: Path) -> None:
    (tmp_path / "job_container.conf").write_text(
        "BasePath=/local InitScript=/tmp/x\nNodeName=n1 BasePath=/local CloneNSScript=/tmp/y\n"
    )
    result = report(
        tmp_path,
        slurm_conf=f"{HEAD}Epilog=/tmp/x\nTaskProlog=/home/a/x\nMailProg=/home/slurm/x\nPrologSlurmctld=/etc/slurm/p\n",
        slurmdbd_conf="ArchiveScript=/dev/shm/x\n",
        helpers_conf="Feature=nps1 Helper=/var/tmp/x\n",
    )
    places = [
        (one.place.line, one.message.partition(",")[0].removeprefix("Slurm runs "))
        for one in result.diagnostics
        if one.code == CODE and one.place
    ]
    assert sorted(places) == [
        (1, "/dev/shm/x as SlurmUser"),
        (1, "/tmp/x as root"),
        (1, "/var/tmp/x as root"),
        (2, "/tmp/y as root"),
        (5, "/tmp/x as root"),
        (6, "/home/a/x as the user of each job"),
    ]
    assert not [
        one for one in result.diagnostics if one.place and "job_container" in one.place.file and one.code != CODE
    ]
