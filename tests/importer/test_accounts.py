"""QOS, accounts and users of a sacctmgr dump become fields of the manifest; anything else is reported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from clustergen.cli import group
from clustergen.compile import render, validate
from clustergen.diagnostics import ClustergenError
from clustergen.importer.directory import ImportResult, import_directory
from clustergen.importer.report import as_text
from clustergen.manifest.source import load

CONF = """\
ClusterName=Hall
SlurmctldHost=head
SlurmUser=slurm
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=head
AccountingStorageEnforce=limits,qos
GresTypes=gpu
NodeName=g[1-2] Sockets=2 CoresPerSocket=56 ThreadsPerCore=2 RealMemory=1000000 Gres=gpu:h100:8
PartitionName=p Nodes=ALL AllowQos=normal,urgent AllowAccounts=2024-07,art QOS=urgent
"""
DBD = "DbdHost=head\nSlurmUser=slurm\nStorageType=accounting_storage/mysql\n"
_COLUMNS = (
    "Name|Priority|GraceTime|Preempt|PreemptMode|Flags|UsageFactor|GrpTRES|GrpJobs|MaxTRES|MaxWall|MaxTRESPU|MaxJobsPU|"
    "MaxSubmitPU|GrpSubmit|GrpTRESMins|GrpTRESRunMins|GrpWall|MaxJobsPA|MaxSubmitPA|MaxTRESMins|MaxTRESPA|"
    "MaxTRESPerNode|MinTRES|PreemptExemptTime|"
)
_REST = "|" * 11
QOS = f"""\
{_COLUMNS}
normal|0|00:00:00||cluster||1.000000||||||||{_REST}
urgent|100|00:02:00|spare|requeue|DenyOnLimit,NoDecay|1.000000|mem=8T|7|cpu=7|2-00:00:00|cpu=64,gres/gpu:h100=3|5||\
9|gres/gpu=600|cpu=5|1-00:00:00|3|4|cpu=90|cpu=10,mem=96G|cpu=12|cpu=1|00:10:00|
spare|0|00:00:00||cluster||0.250000||||||||{_REST}
"""
DUMP = """\
# To edit this file start with a cluster line for the new cluster
# Account - 'cs':MaxTRESPerJob=node=5
Cluster - 'hall':Fairshare=1:QOS='normal'
Parent - 'root'
User - 'root':DefaultAccount='root':AdminLevel='Administrator':Fairshare=1
Account - 'art':Description='art: it`s old':Organization='a:b':Fairshare=70:QOS='normal,spare,urgent'
Account - '2024-07':Description='2024-07':Organization='2024-07':Fairshare=1
Parent - 'art'
Account - 'paint':Description='oil & water':Organization='art':Fairshare=parent:GrpTRES=gres/gpu:h100=4,mem=1000M:\
MaxJobs=3:QOS='-spare'
Account - 'song':Description='song':Organization='art':DefaultQOS='urgent':Fairshare=1:GrpJobs=9:\
QOS='urgent':Comment='old'
Parent - '2024-07'
User - 'ada':DefaultAccount='paint':Coordinator='paint':Fairshare=1
Parent - 'paint'
User - 'ada':DefaultAccount='paint':Fairshare=1
User - 'bob':DefaultAccount='paint':DefaultWCKey='x':AdminLevel='Operator':Fairshare=7:QOS='normal,urgent'
User - 'eve@dom':DefaultAccount='paint':Fairshare=1
User - 'tom':Partition='p':DefaultAccount='paint':Fairshare=1
"""


def _directory(tmp_path: Path, conf: str = CONF, dbd: str | None = DBD) -> Path:
    directory = tmp_path / "slurm"
    directory.mkdir(exist_ok=True)
    (directory / "slurm.conf").write_text(conf)
    if dbd is not None:
        (directory / "slurmdbd.conf").write_text(dbd)
    return directory


def _imported(tmp_path: Path, *texts: str | bytes, **files: str | None) -> tuple[ImportResult, dict[str, Any]]:
    """The manifest's section slurm; every manifest here is valid and means the same as slurm.conf."""
    paths = []
    for number, text in enumerate(texts):
        paths.append(tmp_path / f"books{number}")
        paths[-1].write_bytes(text if isinstance(text, bytes) else text.encode())
    import_result = import_directory(_directory(tmp_path, **files), version="24.11", os="rocky-9", accounts=paths)  # type: ignore[arg-type]
    assert import_result.errors == ()
    assert import_result.same
    path = tmp_path / "manifest.yaml"
    path.write_text(import_result.text, encoding="utf-8")
    data = load(path).data
    assert data is not None
    return import_result, data["slurm"]


def _notes(result: ImportResult, kind: str = "left-out") -> list[str]:
    return [f"{note.place.rpartition('/')[2]}: {note.text}" for note in result.notes if note.kind == kind]


@pytest.mark.slow
def test_accounts_with_their_qos(tmp_path: Path) -> None:
    result, slurm = _imported(tmp_path, DUMP, QOS)
    assert slurm["qos"] == {
        "urgent": {
            "priority": 100,
            "preempt": ["spare"],
            "preempt_mode": "requeue",
            "grace_time": "00:02:00",
            "max_wall": "2-00:00:00",
            "exempt_time": "00:10:00",
            "max_jobs_per_user": 5,
            "max_tres_per_user": {"cpu": 64, "gres/gpu:h100": 3},
            "max_jobs_per_account": 3,
            "max_submit_per_account": 4,
            "max_tres_per_account": {"cpu": 10, "mem": 96 << 10},
            "max_tres_per_job": {"cpu": 7},
            "max_tres_per_node": {"cpu": 12},
            "max_tres_minutes_per_job": {"cpu": 90},
            "min_tres_per_job": {"cpu": 1},
            "group_jobs": 7,
            "group_submit": 9,
            "group_tres": {"mem": 8 << 20},
            "group_tres_minutes": {"gres/gpu": 600},
            "group_tres_run_minutes": {"cpu": 5},
            "group_wall": "1-00:00:00",
            "flags": ["DenyOnLimit", "NoDecay"],
        },
        "spare": {"priority": 0, "usage_factor": 0.25},
    }
    assert slurm["accounts"] == {
        "art": {"organization": "a:b", "fairshare": 70, "qos": ["normal", "spare", "urgent"]},
        "2024-07": {"fairshare": 1, "users": ["ada"]},  # normal, as root has
        "paint": {
            "description": "oil & water",
            "parent": "art",
            "fairshare": 0x7FFFFFFF,
            "users": ["ada", "bob"],
            "qos": ["normal", "urgent"],
            "group_tres": {"gres/gpu:h100": 4, "mem": 1000},
            "max_jobs": 3,
            "user_limits": {"bob": {"fairshare": 7}},  # his QOS are those of paint
            "coordinators": ["ada"],
        },
        "song": {"parent": "art", "fairshare": 1, "qos": ["urgent"], "group_jobs": 9, "options": {"Comment": "old"}},
    }
    assert slurm["users"] == {"ada": {"default_account": "paint"}, "bob": {"admin_level": "operator"}}
    assert slurm["partitions"]["p"]["allow_accounts"] == ["2024-07", "art"]
    assert slurm["partitions"]["p"]["qos"] == "urgent"
    assert _notes(result) == [
        "books0:6: Description=art: it`s old of account art: contains characters that a manifest does not allow; "
        "the database keeps it",
        "books0:16: User=eve@dom of user eve@dom in paint: the name is not valid in a manifest",
        "books0:17: Partition=p of user tom in paint: the manifest has no field for users of one partition",
        "books0:15: DefaultWCKey=x of user bob in paint: the manifest has no field for it",
    ]


@pytest.mark.slow
def test_the_script_sets_what_the_books_say(tmp_path: Path) -> None:
    _imported(tmp_path, DUMP, QOS)
    path = tmp_path / "manifest.yaml"
    tree, _ = render(validate(path), path)
    assert tree is not None
    (text,) = [file.content.decode() for file in tree if file.path.endswith("accounts.json")]
    values = json.loads(text)
    assert ("2024-07", "root") in [(account["name"], account["parent"]) for account in values["accounts"]]
    settings = {row["account"]: row["settings"] for row in values["associations"] if not row["user"]}
    assert settings["song"] == {"GrpJobs": "9", "QOS": "urgent", "Comment": "old", "DefaultQOS": "urgent"}
    limits = {"GrpTRES": "gres/gpu:h100=4,mem=1000", "MaxJobs": "3"}
    assert settings["paint"] == {"Fairshare": "parent", **limits, "QOS": "normal,urgent"}
    assert "cpu=64,gres/gpu:h100=3" in [qos["settings"].get("MaxTRESPerUser") for qos in values["qos"]]


@pytest.mark.slow
def test_a_dump_of_25_05_has_the_qos_itself(tmp_path: Path) -> None:
    qos = """\
QOS - 'normal':Description='Normal QOS default'
QOS - 'urgent':Description='urgent':GraceTime=120:MaxWallDurationPerJob=2880:MaxSubmitJobsPU=9:Preempt='spare'
QOS - 'spare':Description='spare':UsageFactor=0.250000
"""
    result, slurm = _imported(tmp_path, qos + DUMP)
    assert slurm["qos"] == {
        "urgent": {
            "priority": 0,
            "preempt": ["spare"],
            "grace_time": "00:02:00",
            "max_wall": "2-00:00:00",
            "max_submit_per_user": 9,
        },
        "spare": {"priority": 0, "usage_factor": 0.25},
    }
    assert slurm["accounts"]["paint"]["qos"] == ["normal", "urgent"]
    assert not any("QOS of accounts" in words for words in _notes(result))


@pytest.mark.slow
def test_without_the_qos_nothing_of_them_is_taken(tmp_path: Path) -> None:
    """A QOS without its limits would take them from the database."""
    result, slurm = _imported(tmp_path, DUMP)
    assert "qos" not in slurm
    assert not any("qos" in account or "default_qos" in account for account in slurm["accounts"].values())
    assert any("sacctmgr -P show qos" in words for words in _notes(result))


@pytest.mark.slow
def test_many_users_with_the_same_are_one_line(tmp_path: Path) -> None:
    users = "".join(f"User - 'u{n}':DefaultAccount='art':Fairshare=1:WCKeys='w{n}'\n" for n in range(300))
    result, slurm = _imported(tmp_path, DUMP + "Parent - 'art'\n" + users)
    assert len(slurm["accounts"]["art"]["users"]) == 300
    (line,) = [words for words in _notes(result) if "of 300 users" in words]
    assert line.startswith("books0:19: WCKeys of 300 users (u0 in art: w0, u1 in art: w1, u2 in art: w2, …)")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("row", "note", "left"),
    [
        ("nobody,spare|cluster||1.000000|||", "nobody of preempt: QOS 'nobody' is not defined", {"preempt": ["spare"]}),
        (
            "|cluster|DenyOnLimit,Strange|1.000000|||",
            "Strange of flags: 'Strange' is not a QOS flag",
            {"flags": ["DenyOnLimit"]},
        ),
        ("|gang,suspend||1.000000|||", "PreemptMode=gang,suspend of QOS odd: the manifest has no field for it", {}),
        ("|cluster||1.000000|gres/fpga=4,cpu=2||", "'gres/fpga' is not a tracked resource", {"group_tres": {"cpu": 2}}),
        ("|cluster||1.000000|cpu=1.5K,node=2||", "GrpTRES=cpu=1.5K of QOS odd: no", {"group_tres": {"node": 2}}),
        ("|cluster||much|||", "UsageFactor=much of QOS odd: the manifest has no field for it", {}),
    ],
)
def test_entries_that_leave_the_database_are_reported(
    tmp_path: Path, row: str, note: str, left: dict[str, Any]
) -> None:
    result, slurm = _imported(tmp_path, f"{QOS}odd|0|00:00:00|{row}|||||{_REST}\n")
    (words,) = [words for words in _notes(result) if note in words]
    assert words.endswith("; clustergen-accounts removes it from the database")
    assert slurm["qos"]["odd"] == {"priority": 0, **left}


@pytest.mark.slow
def test_accounts_below_one_that_cannot_be_taken(tmp_path: Path) -> None:
    lines = (
        "Account - 'no way':Fairshare=1\nParent - 'no way'\nAccount - 'below':Fairshare=1\nUser - 'kim':Fairshare=1\n"
    )
    result, slurm = _imported(tmp_path, DUMP + lines)
    assert "below" not in slurm["accounts"]
    # Line 19 opens its users, and is not reported a second time.
    assert "books0:19: account no way, with its users: the name is not valid in a manifest" not in _notes(result)
    assert [words for words in _notes(result) if "with its users" in words] == [
        "books0:18: account no way, with its users: the name is not valid in a manifest",
        "books0:20: account below, with its users: the account above it, no way, is not in the manifest",
    ]


@pytest.mark.slow
def test_slurmdbd_of_others(tmp_path: Path) -> None:
    result, slurm = _imported(tmp_path, DUMP, dbd=None)
    assert "art" in slurm["accounts"]
    assert any("there is no slurmdbd.conf" in words for words in _notes(result, "choice"))


@pytest.mark.slow
def test_no_accounting_at_all(tmp_path: Path) -> None:
    conf = "\n".join(line for line in CONF.splitlines() if "Accounting" not in line) + "\n"
    result, slurm = _imported(tmp_path, DUMP, conf=conf, dbd=None)
    assert "accounts" not in slurm
    assert any("does not use slurmdbd for accounting" in words for words in _notes(result))


_BAD: list[tuple[bytes, str]] = [
    (b"", "books:1: neither a sacctmgr dump"),
    (b"\x00\xff\x17" * 90, "books:1: neither a sacctmgr dump"),
    (DUMP.encode("utf-16"), "books:1: neither a sacctmgr dump"),
    (CONF.encode(), "books:1: neither a sacctmgr dump"),
    (b"normal|0|00:00:00\n", "books:1: the first line of the table does not contain the column names"),
    (b"Name|Priority|Preempt\nnormal|0|\n", "books:1: the table of QOS has no column Flags, GraceTime, GrpJobs, "),
    (b"Cluster|Account|User|Share\nhall|root||1\n", "books:1: a table of accounts"),
    (
        DUMP.replace("'hall'", "'barn'").encode(),
        "books:3: this dump is of cluster 'barn', but slurm.conf is of 'Hall'",
    ),
    ((DUMP + "Cluster - 'barn':Fairshare=1\n").encode(), "books:18: a second cluster, 'barn', after 'hall'"),
    (DUMP.replace("Cluster - ", "# ").encode(), "books:5: accounts without a cluster"),
]


@pytest.mark.parametrize(("content", "message"), _BAD, ids=[message for _, message in _BAD])
def test_dumps_of_other_clusters(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "books").write_bytes(content)
    done = CliRunner().invoke(group, ["import", str(_directory(tmp_path)), "--accounts", str(tmp_path / "books")])
    assert isinstance(done.exception, ClustergenError)
    assert done.exception.exit_code == 3
    assert message in done.exception.message
    assert done.exception.hint


_LOST: list[tuple[bytes, bytes, str]] = [
    (b"User - 'bob'", b"\x00User - 'bob'", "books0:15: a line contains a NUL"),
    (b"Fairshare=70:QOS", b"Fairshare=70|QOS", "books0:6: cannot be read"),
    (b"User - 'bob'", b"Uzer - 'bob'", "books0:15: this line belongs neither to a dump nor to a table"),
    (b"Account - '2024-07'", b"Account - 'art'", "books0:7: account art is already defined at"),
    (b"Fairshare=70", b"Fairshare=lots", "books0:6: Fairshare=lots of account art: not a number of shares"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("old", "new", "note"), _LOST, ids=[note for _, _, note in _LOST])
def test_an_unreadable_line_is_reported(tmp_path: Path, old: bytes, new: bytes, note: str) -> None:
    result, slurm = _imported(tmp_path, DUMP.encode().replace(old, new), QOS)
    assert any(words.startswith(note) for words in _notes(result))
    assert "\0" not in as_text(result)
    assert slurm["qos"].keys() == {"urgent", "spare"}


@pytest.mark.slow
def test_latin_1_and_ends_of_lines_of_other_systems(tmp_path: Path) -> None:
    dump = DUMP.replace("oil & water", "Öl & Wasser").replace("\n", "\r\n").encode("latin-1")
    result, slurm = _imported(tmp_path, dump)
    assert slurm["accounts"]["paint"]["description"] == "Öl & Wasser"
    assert slurm["accounts"]["paint"]["max_jobs"] == 3
    assert any(words.startswith("books0:9: bytes that are not UTF-8") for words in _notes(result, "choice"))


@pytest.mark.parametrize(("name", "message"), [("nowhere", "no such file"), ("slurm", "it is a directory")])
def test_books_that_cannot_be_read(tmp_path: Path, name: str, message: str) -> None:
    done = CliRunner().invoke(group, ["import", str(_directory(tmp_path)), "--accounts", str(tmp_path / name)])
    assert isinstance(done.exception, ClustergenError)
    assert done.exception.exit_code == 3
    assert message in done.exception.message


@pytest.mark.slow
def test_sacctmgr_dumps_in_the_directory_are_not_reported_as_skipped(tmp_path: Path) -> None:
    directory = _directory(tmp_path)
    (directory / "books").write_text(DUMP)
    (directory / "notes.txt").write_text("other things\n")
    import_result = import_directory(directory, version="24.11", os="rocky-9", accounts=[directory / "books"])
    (words,) = [words for words in _notes(import_result, "choice") if "not read" in words]
    assert words.endswith("the names are not those of Slurm files: notes.txt")
