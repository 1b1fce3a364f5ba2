"""Files that Slurm rejects or that are unusual: a manifest or a clear error, no traceback, no silent loss."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from clustergen.diagnostics import ClustergenError
from clustergen.importer.comments import comments_of
from clustergen.importer.directory import ImportResult, import_directory
from clustergen.importer.report import as_json, as_text

GOOD = "ClusterName=c\nSlurmctldHost=head\nSlurmUser=slurm\nNodeName=n[1-2] CPUs=4 RealMemory=1000\n"
PARTITION = "PartitionName=p Nodes=ALL Default=YES\n"


def imported(directory: Path, text: str | bytes, version: str | None = "24.11", **files: str) -> ImportResult:
    directory.mkdir(exist_ok=True)
    (directory / "slurm.conf").write_bytes(text if isinstance(text, bytes) else text.encode())
    for name, content in files.items():
        (directory / name.replace("_", ".")).write_text(content)
    return import_directory(directory, version=version)


def left_out(result: ImportResult) -> list[str]:
    return [f"{note.place}: {note.text}" for note in result.notes if note.kind == "left-out"]


@pytest.mark.slow
def test_unknown_keys_are_removed_and_reported(tmp_path: Path) -> None:
    text = GOOD.replace("RealMemory", "Colour=red RealMemory") + "MaxConcurrentJobs=5\n" + PARTITION
    import_result = imported(tmp_path, text)
    assert import_result.errors == ()
    answer = "\n".join(left_out(import_result))
    assert "slurm.conf:4" in answer
    assert "Colour" in answer
    assert "slurm.conf:5" in answer
    assert "MaxConcurrentJobs" in answer
    assert [one.place for one in import_result.rejected] == [
        "slurm.conf",
        "slurm.conf:4",
        "slurm.conf:5",
    ]  # no state location
    assert "rejects the original files (slurm.conf, slurm.conf:4, slurm.conf:5)" in as_text(import_result)


def test_lines_that_slurm_cannot_read(tmp_path: Path) -> None:
    import_result = imported(tmp_path, GOOD + "; NodeName=old CPUs=1\n" + PARTITION)
    assert any("slurm.conf:5" in line for line in left_out(import_result))
    assert "old" not in import_result.text


def test_the_last_of_two_default_partitions_counts(tmp_path: Path) -> None:
    import_result = imported(tmp_path, GOOD + PARTITION + "PartitionName=q Nodes=n1 Default=YES\n")
    assert import_result.same
    assert "p: {nodes: all}" in import_result.text
    assert "q: {nodes: n1, default: true}" in import_result.text
    assert any("Slurm uses the last, q" in note.text for note in import_result.notes)


def test_partitions_in_one_name(tmp_path: Path) -> None:
    """Slurm makes one partition of the line; a job can request each of the manifest's."""
    import_result = imported(tmp_path, GOOD + PARTITION + "PartitionName=q[1-2] Nodes=n1\n")
    assert "q1: {nodes: n1}" in import_result.text
    assert "q2: {nodes: n1}" in import_result.text
    assert import_result.same


@pytest.mark.slow
def test_words_that_slurm_passes_over(tmp_path: Path) -> None:
    import_result = imported(tmp_path, GOOD + "SchedulerParameters=bf_continue,bf_colour=3\n" + PARTITION)
    assert import_result.same
    assert any("bf_colour" in note.text for note in import_result.notes if note.kind == "meant")


def test_a_partition_of_strangers(tmp_path: Path) -> None:
    import_result = imported(tmp_path, GOOD + "PartitionName=p Nodes=n[1-2],gone7 Default=YES\n")
    assert import_result.errors == ()
    assert any("gone7" in line for line in left_out(import_result))
    assert not import_result.same


def test_the_latter_of_two_lines_counts(tmp_path: Path) -> None:
    import_result = imported(tmp_path, GOOD + "KillWait=10\nKillWait=20\n" + PARTITION)
    assert import_result.same
    assert "KillWait: 20" in import_result.text


@pytest.mark.parametrize(
    ("line", "old", "why"),
    [
        ("StoragePort=x", "StoragePort=3306", "StoragePort=x is not a port from 1 to 65535"),
        ("NodeName=n9 Boards=x", "", "Boards=x: "),
    ],
)
def test_a_value_that_slurm_cannot_read_is_the_reason(line: str, old: str, why: str, tmp_path: Path) -> None:
    dbd = f"AuthType=auth/munge\nDbdHost=head\nStorageType=accounting_storage/mysql\nStorageHost=db\n{old and line}\n"
    text = GOOD + PARTITION + ("AccountingStorageType=accounting_storage/slurmdbd\n" if old else f"{line}\n")
    import_result = imported(tmp_path, text, slurmdbd_conf=dbd)
    reasons = {one.change.key: one.why for one in import_result.compared if not one.meant}
    assert reasons[line.split()[-1].partition("=")[0]].startswith(why)
    assert not old or "leaves SlurmUser to Slurm's default" in reasons["SlurmUser"]
    assert "reason is unknown" not in as_text(import_result)


def test_names_that_only_slurm_takes(tmp_path: Path) -> None:
    text = GOOD.replace("SlurmctldHost=head", "SlurmctldHost=Head_1.example.org") + PARTITION
    text = text.replace("ClusterName=c", "ClusterName=2026_c").replace("PartitionName=p", "PartitionName=1day")
    import_result = imported(tmp_path, text)
    assert import_result.errors == ()
    assert import_result.same


@pytest.mark.parametrize(("version", "names"), [("22.05", "n1.a.test,n2.a.test"), ("24.11", "n[1-2].a.test")])
def test_lists_are_folded_as_the_release_reads_them(version: str, names: str, tmp_path: Path) -> None:
    lines = "".join(f"NodeName=n{index} NodeHostname=n{index}.a.test CPUs=4\n" for index in (1, 2))
    import_result = imported(tmp_path, "ClusterName=c\nSlurmctldHost=h\n" + lines + PARTITION, version=version)
    assert import_result.same
    assert f'NodeHostname: "{names}"' in import_result.text


def test_one_machine_that_calls_itself_localhost(tmp_path: Path) -> None:
    text = "ClusterName=c\nSlurmctldHost=localhost\nNodeName=localhost NodeAddr=127.0.0.1 CPUs=8\n"
    import_result = imported(tmp_path, text + PARTITION.replace("ALL", "localhost"))
    assert import_result.errors == ()
    assert import_result.same


@pytest.mark.slow
def test_several_slurmd_on_one_address(tmp_path: Path) -> None:
    text = GOOD.replace("n[1-2]", "n[1-2] NodeHostname=big NodeAddr=10.0.0.5 Port=[17001-17002]")
    assert imported(tmp_path, text.replace("NodeHostname=big NodeAddr=10.0.0.5 ", "") + PARTITION).same
    same_address = GOOD.replace("n[1-2]", "n1 NodeAddr=10.0.0.5") + "NodeName=n2 NodeAddr=10.0.0.5 Port=17002\n"
    assert imported(tmp_path, same_address + PARTITION).same


def test_shared_directories_keep_their_owners(tmp_path: Path) -> None:
    """The tree would give the directory of the manifest's field to Slurm, mode 0700."""
    import_result = imported(tmp_path, GOOD + "StateSaveLocation=/tmp\n" + PARTITION)
    assert "state_location" not in import_result.text
    assert "StateSaveLocation: /tmp" in import_result.text
    assert import_result.same


@pytest.mark.slow
def test_secrets_of_all_kinds(tmp_path: Path) -> None:
    gathers = "AcctGatherEnergyType=acct_gather_energy/ipmi\n"
    text = GOOD + gathers + "# password: hunter2hunter2\nJobCompPass=abcdefgh\nJobCompType=jobcomp/mysql\n" + PARTITION
    import_result = imported(tmp_path, text, acct__gather_conf="EnergyIPMIPassword=ijklmnop\n")
    (tmp_path / "acct_gather.conf").write_text("EnergyIPMIPassword=ijklmnop\nEnergyIPMIFrequency=10\n")
    import_result = import_directory(tmp_path, version="24.11")
    for secret in ("hunter2", "abcdefgh", "ijklmnop"):
        assert secret not in import_result.text
    assert sum(note.kind == "secret" for note in import_result.notes) == 3
    assert "EnergyIPMIFrequency: 10" in import_result.text


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\0\0\0",
        b"\xff\xfeC\0l\0u\0",
        (GOOD + PARTITION).replace("\n", "\r\n").encode(),
        b"# M\xfcnchen\nClusterName=m\xfcnchen\n" + GOOD.encode() + PARTITION.encode(),
        GOOD.encode() + b"Include slurm.conf\n",
        GOOD.encode() + b"Include gone.conf\n" + PARTITION.encode(),
        GOOD.encode() + b"NodeName=n[1- CPUs=2\n" + PARTITION.encode(),
        b"NodeName=" + b"x" * 5000 + b" CPUs=99999999999999999999 RealMemory=1T\n",
        b"PartitionName=p Nodes=a,b[\nPartitionName=DEFAULT\nNodeName=DEFAULT Gres=gpu:x:y:z\nNodeName=a\n",
        b'ClusterName="a b"\nSlurmctldHost=h(\nSlurmctldHost=(1.2.3.4)\nNodeName=a Gres=gpu:h100:8,gpu:a100:0\n',
        b"TopologyPlugin=topology/block\nPriorityWeightAge=-5\nMessageTimeout=1e9\n" + GOOD.encode(),
    ],
)
def test_no_traceback_and_no_silence(text: bytes, tmp_path: Path) -> None:
    import_result = imported(tmp_path, text, version=None)
    assert as_text(import_result)
    assert as_json(import_result, None)
    assert import_result.text.startswith("# yaml-language-server")


def test_latin_1_is_read_as_such(tmp_path: Path) -> None:
    import_result = imported(tmp_path, b"# Standort M\xfcnchen\n" + (GOOD + PARTITION).encode())
    assert "# Standort München" in import_result.text


def test_there_is_no_slurm_conf(tmp_path: Path) -> None:
    (tmp_path / "my_slurm.conf").write_text("")
    with pytest.raises(ClustergenError) as caught:
        import_directory(tmp_path)
    assert caught.value.exit_code == 3
    assert "my_slurm.conf" in (caught.value.hint or "")


def test_an_unknown_release(tmp_path: Path) -> None:
    for version in ("19.05", "soon"):
        with pytest.raises(ClustergenError, match="is not in the catalogue") as refused:
            imported(tmp_path, GOOD, version=version)
        assert refused.value.exit_code == 2  # a wrong use of the command, as for lint


_WORDS = st.sampled_from(
    (
        *("NodeName=", "PartitionName=", "Nodes=", "n[1-3]", "ALL", "DEFAULT", "CPUs=", "RealMemory=", "Feature="),
        *(
            "Gres=gpu:a100:2",
            "Default=YES",
            "Include slurm.conf",
            "SlurmctldHost=n1",
            "State=",
            "MaxTime=",
            "7-0",
            "-1",
        ),
        *("PriorityType=", "priority/", "TopologyPlugin=topology/tree", "StoragePass=", "JobCompPass=secret"),
        *("=", '"', "\\", "#", "\n", " ", ",", "[", "\x00", "é", "\x85"),
    )
)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_WORDS, max_size=40).map("".join))
def test_anything_at_all(tmp_path: Path, text: str) -> None:
    import_result = imported(tmp_path, GOOD + text, version="24.11")
    assert as_text(import_result)


def test_comments_keep_to_their_lines() -> None:
    comments = comments_of("# of the file\n\n#A=1\n# above\nB=2 # behind\n\n# SCHEDULING\nC=x\\#y # last\n# end\n")
    assert comments.head == ("of the file",)
    assert comments.above == {5: ("above", "behind"), 8: ("last",)}
    assert comments.tail == ("end",)
    assert comments.switched_off == 1


@pytest.mark.slow
def test_bytes_of_another_encoding_are_printed_as_escapes(tmp_path: Path) -> None:
    import_result = imported(
        tmp_path,
        GOOD.encode().replace(b"CPUs", b"Reason=M\xfcnchen CPUs")
        + "SlurmdParameters=\x1b[31mx\x9b2J\u202ey\n".encode()
        + PARTITION.encode(),
    )
    text = as_text(import_result)
    assert "slurm.conf:4: Reason=München: it contains bytes that are not UTF-8" in text
    assert all(char.isprintable() or char == "\n" for char in text)
    assert all(" " <= char <= "~" or char == "\n" for char in as_json(import_result, None))


def test_more_nodes_than_slurm_accepts_are_reported_at_once(tmp_path: Path) -> None:
    lines = "".join(f"NodeName=r{rack}n[0-32767] CPUs=1\n" for rack in range(3))
    (tmp_path / "slurm.conf").write_text(f"ClusterName=c\nSlurmctldHost=h\n{lines}PartitionName=p Nodes=ALL\n")
    with pytest.raises(ClustergenError, match="98,304 nodes"):
        import_directory(tmp_path)


@pytest.mark.slow
def test_lines_that_are_alike_stay_apart_where_one_list_would_be_too_long(tmp_path: Path) -> None:
    lines = "".join(f"NodeName={rack}-[1-40000] Name=gpu AutoDetect=nvml\n" for rack in "ab")
    result = imported(tmp_path, GOOD + PARTITION, gres_conf=lines)
    assert "b-[1-40000]" in result.text


LONG = "x" * 100_000


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        f"{GOOD}MailDomain={LONG}\n{PARTITION}",
        f"{GOOD}{LONG}=1\n{PARTITION}",
        f"{GOOD}Frobnicate={LONG}\n{PARTITION}",
        f"{GOOD}KillWait={'9' * 100_000}\n{PARTITION}",
        f"{GOOD}SchedulerParameters={LONG}\n{PARTITION}",
        GOOD.replace("SlurmUser=slurm", f"SlurmUser={LONG}") + PARTITION,
        GOOD.replace("CPUs=4", f"Gres={LONG}") + PARTITION,
    ],
    ids=["value", "key", "unknown", "number", "word", "user", "gres"],
)
def test_long_values_are_shortened_and_the_reason_stays(tmp_path: Path, text: str) -> None:
    result = imported(tmp_path, text)
    assert len(as_text(result)) < 8_000
    assert len(as_json(result, "m.yaml")) < 80_000
    assert "characters, the maximum of this field" in as_text(result)


@pytest.mark.slow
def test_unknown_keys_of_default_lines_are_listed(tmp_path: Path) -> None:
    keys = " ".join(f"Colour{number}=1" for number in range(45_000))
    result = imported(tmp_path, f"{GOOD}PartitionName=DEFAULT {keys}\nNodeName=DEFAULT Shape=2\n{PARTITION}")
    lines = [line for line in left_out(result) if "DEFAULT" in line]
    assert lines[0].startswith("slurm.conf:5: PartitionName=DEFAULT: Slurm 24.11 has no key Colour0, Colour1, ")
    assert lines[0].endswith(", Colour11 and 44,988 more")
    assert lines[1:] == ["slurm.conf:6: NodeName=DEFAULT: Slurm 24.11 has no key Shape"]
