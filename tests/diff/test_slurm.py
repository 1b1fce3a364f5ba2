"""Slurm's files of one host compared by meaning."""

from __future__ import annotations

import subprocess
import sys

import pytest

from clustergen.catalogue.versions import SlurmRelease
from clustergen.diff.change import Change
from clustergen.diff.messages import subject
from clustergen.diff.slurm import effects_on, slurm_changes

_CONF = """\
ClusterName=c
SlurmctldHost=head(10.0.0.1)
SelectType=select/cons_tres
GresTypes=gpu
PriorityMaxAge=7-0
SchedulerParameters=bf_continue,bf_window=1440
NodeName=DEFAULT CPUs=8 RealMemory=1000
NodeName=n[1-4] NodeAddr=10.0.0.[11-14] Gres=gpu:a100:2 Feature=a,b
NodeName=head
PartitionName=DEFAULT MaxTime=1-0
PartitionName=p Nodes=n[1-4] Default=YES
PartitionName=q Nodes=n[1-2]
"""
_GRES = "NodeName=n[1-4] Name=gpu Type=a100 File=/dev/nvidia[0-1] Cores=0-3\n"


def changes(old: str, new: str, release: str = "24.11", **files: str) -> list[Change]:
    """Of a slurm.conf; `gres=` and the like give further files, the same on both sides."""
    rest = {f"/etc/slurm/{name}.conf": text for name, text in files.items()}
    before, after = ({"/etc/slurm/slurm.conf": text, **rest} for text in (old, new))
    return list(slurm_changes(before, after, SlurmRelease(release)))


def edited(*edits: tuple[str, str], text: str = _CONF) -> str:
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return text


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("PriorityMaxAge=7-0", "prioritymaxage = 168:00:00"),
        ("GresTypes=gpu\n", "GresTypes=gpu # comment\n"),
        ("ClusterName=c", "ClusterName=c\nAuthType=munge"),
        ("bf_continue,bf_window=1440", "bf_window=1440,BF_CONTINUE"),
        ("GresTypes=gpu\n", "GresTypes=gpu\nSlurmctldPort=6817\nReturnToService=0\n"),
        ("NodeName=n[1-4] NodeAddr=10.0.0.[11-14]", "NodeName=n1,n2,n[3-4] NodeAddr=10.0.0.[11-12],10.0.0.[13-14]"),
        ("Feature=a,b", "Features=b,a"),
        ("CPUs=8", "Procs=8"),
        ("NodeName=DEFAULT CPUs=8", "NodeName=DEFAULT Sockets=8 ThreadsPerCore=1"),
        ("NodeName=head", "NodeName=head NodeAddr=head Weight=1 State=unknown"),
        ("MaxTime=1-0", "MaxTime=24:00:00"),
        ("Nodes=n[1-4] Default=YES", "Default=true OverSubscribe=no State=UP Nodes=n4,n[1-3] Shared=NO"),
        ("Gres=gpu:a100:2", "Gres=gpu:A100:2(S:0)"),
        ("PartitionName=q", "\\\nPartitionName=q"),
    ],
)
def test_spellings_of_the_same_value(old: str, new: str) -> None:
    assert changes(_CONF, edited((old, new))) == []


@pytest.mark.parametrize(
    ("old", "new", "release", "effects", "jobs"),
    [
        ("", "PreemptParameters=youngest_first\n", "22.05", ["refuse"], []),
        ("", "PreemptParameters=youngest_first\n", "24.11", ["reconfigure"], []),
        ("SlurmctldPort=6817\n", "SlurmctldPort=6817-6818\n", "24.11", ["restart-slurm"], []),
        ("SlurmctldPort=6817-6818\n", "SlurmctldPort=6818\n", "24.11", ["drain", "restart-slurm"], ["None"]),
        ("AccountingStorageEnforce=limits\n", "", "24.11", ["reconfigure"], []),
        ("AccountingStorageEnforce=limits\n", "AccountingStorageEnforce=limits,nojobs\n", "24.11", ["reconfigure"], []),
        ("", "AccountingStorageEnforce=limits\n", "24.11", ["reconfigure"], ["InvalidAccount"]),
    ],
)
def test_a_line_that_is_added_or_changed(old: str, new: str, release: str, effects: list[str], jobs: list[str]) -> None:
    (change,) = changes(_CONF + old, _CONF + new, release)
    assert [effect.kind for effect in change.effects] == effects
    assert [each.state for each in change.waiting] == jobs


@pytest.mark.parametrize(
    ("line", "release", "is_known"),
    [
        ("UsePAM=1\n", "22.05", False),
        ("UsePAM=1\n", "24.11", True),
        ("KillWait=7\n", "22.05", True),
        ("NoSuchKey=7\n", "26.05", False),
    ],
)
def test_an_effect_that_nobody_knows_is_no_promise(line: str, release: str, is_known: bool) -> None:
    files = ({"/etc/slurm/slurm.conf": text} for text in (_CONF, _CONF + line))
    assert all(change.is_known for change in slurm_changes(*files, SlurmRelease(release))) is is_known


def test_a_key_that_is_fatal_to_the_next_release_is_named_though_it_does_not_change() -> None:
    files = {"/etc/slurm/slurm.conf": edited(("ClusterName=c\n", "ClusterName=c\nSlurmctldPlugstack=a\n"))}
    newer = SlurmRelease("26.05")
    refused = [
        change.key
        for change in slurm_changes(files, files, newer, old_release=SlurmRelease("22.05"))
        if change.effect.kind == "refuse"
    ]
    assert refused == ["SlurmctldPlugstack"]


@pytest.mark.parametrize(
    ("flag", "edit", "is_kept"),
    [
        ("KeepPartInfo", ("PartitionName=q Nodes=n[1-2]", "PartitionName=q Nodes=n1"), True),
        ("KeepPartState", ("PartitionName=q", "PartitionName=q State=DOWN"), True),
        ("KeepPartState", ("PartitionName=q Nodes=n[1-2]", "PartitionName=q Nodes=n1"), False),
        ("KeepPowerSaveSettings", ("PartitionName=q", "PartitionName=q State=DOWN"), False),
    ],
)
def test_a_value_that_slurmctld_keeps(flag: str, edit: tuple[str, str], is_kept: bool) -> None:
    conf = f"{_CONF}ReconfigFlags={flag}\n"
    (change,) = changes(conf, edited(edit, text=conf))
    assert change.row.endswith(" kept") is is_kept


def test_a_node_that_no_switch_has_is_lost_to_jobs_of_several_nodes() -> None:
    old, moved, out = (
        {"/etc/slurm/slurm.conf": _CONF, "/etc/slurm/topology.conf": text}
        for text in (
            "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n[3-4]\n",
            "SwitchName=a Nodes=n[1-3]\nSwitchName=b Nodes=n4\n",
            "SwitchName=a Nodes=n[1-2]\nSwitchName=b Nodes=n4\n",
        )
    )
    waiting = [
        [jobs.state for change in slurm_changes(old, new, SlurmRelease("24.11")) for jobs in change.waiting]
        for new in (moved, out)
    ]
    assert waiting == [[], ["BadConstraints"]]


def test_a_line_for_each_node_is_what_the_folded_line_was() -> None:
    lines = [
        f"NodeName=n{n} NodeAddr=10.0.0.1{n} Gres=gpu:a100:2 Feature=a,b CPUs=8 RealMemory=1000" for n in range(1, 5)
    ]
    folded = "NodeName=n[1-4] NodeAddr=10.0.0.[11-14] Gres=gpu:a100:2 Feature=a,b"
    assert changes(_CONF, edited((folded, "\n".join(lines)))) == []


def test_a_default_line_changes_the_nodes_that_it_reaches() -> None:
    (change,) = changes(_CONF, edited(("RealMemory=1000", "RealMemory=2000")))
    assert (change.kind, change.name, change.key, change.old, change.new) == (
        "node",
        "head,n[1-4]",
        "RealMemory",
        "1000",
        "2000",
    )


@pytest.mark.parametrize(
    ("old", "new", "waits"),
    [
        ("RealMemory=1000 MemSpecLimit=20", "RealMemory=2000 MemSpecLimit=40", False),
        ("RealMemory=1000 MemSpecLimit=20", "RealMemory=1020 MemSpecLimit=40", False),
        ("RealMemory=1000 MemSpecLimit=20", "RealMemory=1010 MemSpecLimit=40", True),
        ("RealMemory=1000", "RealMemory=1000 MemSpecLimit=40", True),
    ],
)
def test_jobs_wait_for_memory_only_where_less_is_left_for_them(old: str, new: str, waits: bool) -> None:
    result = changes(edited(("RealMemory=1000", old)), edited(("RealMemory=1000", new)))
    assert any("all the memory" in jobs.text for change in result for jobs in change.waiting) is waits
    (reserved,) = [change for change in result if change.key == "MemSpecLimit"]
    assert [effect.kind for effect in reserved.effects] == ["reconfigure"]


def test_nodes_that_change_alike_are_folded_and_others_are_not() -> None:
    apart = "NodeName=n[1-2] NodeAddr=10.0.0.[11-12] Gres=gpu:a100:2 Feature=a,b\n"
    apart += "NodeName=n3 NodeAddr=10.0.0.13 Gres=gpu:a100:2 Feature=c\nNodeName=n4 NodeAddr=10.0.0.99 Gres=gpu:a100:2"
    result = changes(_CONF, edited(("NodeName=n[1-4] NodeAddr=10.0.0.[11-14] Gres=gpu:a100:2 Feature=a,b", apart)))
    assert sorted((change.name, change.key, change.old, change.new) for change in result) == [
        ("n3", "Feature", "a,b", "c"),
        ("n4", "Feature", "a,b", None),
        ("n4", "NodeAddr", "10.0.0.14", "10.0.0.99"),
    ]


@pytest.mark.parametrize("release", ["22.05", "24.11", "26.05"])
def test_only_the_word_that_needs_a_restart_asks_for_it(release: str) -> None:
    plain = changes(_CONF, edited(("bf_continue,", "")), release)
    assert [str(change.effect) for change in plain] == ["reconfigure"]
    (result,) = changes(_CONF, edited(("bf_continue,", "bf_continue,no_backup_scheduling,")), release)
    assert str(result.effect) == ("restart-slurmctld" if release == "22.05" else "reconfigure")


def test_moving_the_controller_is_more_than_another_address_of_it() -> None:
    (moved,) = changes(_CONF, edited(("SlurmctldHost=head(10.0.0.1)", "SlurmctldHost=other(10.0.0.2)")))
    (second,) = changes(_CONF, edited(("(10.0.0.1)\n", "(10.0.0.1)\nSlurmctldHost=other(10.0.0.2)\n")))
    assert [str(effect) for effect in moved.effects] == ["refuse", "restart-slurm"]
    assert str(second.effect) == "reconfigure"


def test_the_order_of_nodes_is_their_index() -> None:
    lines = _CONF.splitlines(keepends=True)
    first, second = (next(line for line in lines if line.startswith(f"NodeName={name}")) for name in ("n[1-4]", "head"))
    (change,) = changes(_CONF, edited((first + second, second + first)))
    assert (change.key, change.old, change.new) == ("order", "n[1-4],head", "head,n[1-4]")


def test_another_release_has_other_defaults() -> None:
    old = {"/etc/slurm/slurm.conf": "ClusterName=c\nTreeWidth=16\n"}
    result = slurm_changes(old, old, SlurmRelease("24.11"), old_release=SlurmRelease("22.05"))
    by_key = {change.key: (change.old, change.new) for change in result}
    assert by_key["SelectType"] == ("select/linear", "select/cons_tres")
    assert "TreeWidth" not in by_key


def test_gres_by_device() -> None:
    conf = {"/etc/slurm/slurm.conf": _CONF}

    def compare(text: str) -> list[tuple[str, str | None, str | None, str | None, str]]:
        result = slurm_changes(
            {**conf, "/etc/slurm/gres.conf": _GRES}, {**conf, "/etc/slurm/gres.conf": text}, SlurmRelease("24.11")
        )
        return [(change.key, change.old, change.new, change.nodes, str(change.effect)) for change in result]

    by_device = "NodeName=n[1-4] Name=gpu Type=A100 File=/dev/nvidia{} Cores=0,1,2,3\n"
    assert compare(by_device.format(1) + by_device.format(0)) == []
    assert compare(_GRES.replace("n[1-4]", "n[1-3]")) == [("File", "/dev/nvidia[0-1]", None, "n4", "drain")]
    assert compare(_GRES.replace("[0-1]", "[0-2]")) == [
        ("File", "/dev/nvidia[0-1]", "/dev/nvidia[0-2]", "n[1-4]", "drain")
    ]
    assert compare(_GRES.replace("0-3", "0-1")) == [("Cores", "0-3", "0-1", "n[1-4]", "restart-slurmctld")]


def test_shards_are_counted_by_device() -> None:
    def differs(old: str, new: str) -> bool:
        lines = ("\n".join(f"Name=shard {line}" for line in text.splitlines()) for text in (old, new))
        files = ({"/etc/slurm/slurm.conf": _CONF, "/etc/slurm/gres.conf": f"{text}\n"} for text in lines)
        return bool(slurm_changes(*files, SlurmRelease("24.11")))

    both = "Count=8 File=/dev/nvidia[0-1]"
    assert not differs(both, "Count=4 File=/dev/nvidia0\nCount=4 File=/dev/nvidia1")
    assert differs(both, "Count=6 File=/dev/nvidia0\nCount=2 File=/dev/nvidia1")


def test_partitions_by_the_nodes_that_they_come_to() -> None:
    named = "NodeSet=some Nodes=n[1-2]\nPartitionName=q Nodes=some"
    result = changes(_CONF, edited(("PartitionName=q Nodes=n[1-2]", named)))
    assert [change.kind for change in result] == ["node set"]
    (change,) = changes(_CONF, edited(("PartitionName=q Nodes=n[1-2]", "PartitionName=q Nodes=n[2-3]")))
    assert (change.name, change.key, change.nodes) == ("q", "Nodes", "n[1,3]")


def test_included_files_are_part_of_the_file() -> None:
    head, nodes = _CONF.split("NodeName=DEFAULT", 1)
    split = {
        "/etc/slurm/slurm.conf": head + "Include nodes.conf\n",
        "/etc/slurm/nodes.conf": "NodeName=DEFAULT" + nodes,
    }
    whole = {"/etc/slurm/slurm.conf": _CONF}
    assert slurm_changes(whole, split, SlurmRelease("24.11")) == ()
    split["/etc/slurm/nodes.conf"] = split["/etc/slurm/nodes.conf"].replace("RealMemory=1000", "RealMemory=999")
    assert [change.key for change in slurm_changes(whole, split, SlurmRelease("24.11"))] == ["RealMemory"]


def test_a_joined_node_restarts_all_daemons_before_24_11() -> None:
    """A node joins before 24.11: every daemon restarts, and only what runs on a host is done there."""
    joined = edited(("NodeName=n[1-4] NodeAddr=10.0.0.[11-14]", "NodeName=n[1-5] NodeAddr=10.0.0.[11-15]"))
    result = changes(_CONF, joined, "22.05")

    def on(host: str, *roles: str) -> list[str]:
        return [str(effect) for effect in effects_on(result, host, roles)]

    assert on("head", "slurm-controller") == ["restart-slurmctld"]
    assert on("n1", "slurm_compute", "all") == ["restart-slurmd"]
    assert on("login", "slurm-login") == []
    later = changes(_CONF, joined, "24.11")
    assert effects_on(later, "n1", ["slurm-compute"]) == ()
    assert [str(effect) for effect in effects_on(later, "head", ["slurm-controller"])] == ["reconfigure"]


def test_daemons_that_all_restart_need_no_reconfigure() -> None:
    def on_the_controller(*edits: tuple[str, str]) -> list[str]:
        result = changes(_CONF, edited(*edits))
        return [str(effect) for effect in effects_on(result, "head", ["slurm-controller"])]

    other, port = ("PriorityMaxAge=7-0", "PriorityMaxAge=8-0"), ("ClusterName=c", "ClusterName=c\nSlurmdPort=7818")
    state = ("ClusterName=c", "ClusterName=c\nStateSaveLocation=/var/spool/state")
    assert on_the_controller(other) == ["reconfigure"]
    assert on_the_controller(other, port) == ["restart-slurmctld"]
    assert on_the_controller(other, state) == ["reconfigure", "restart-slurmctld", "refuse"]
    refused = changes(_CONF, edited(state))
    for role in ("slurm-accounting", "slurm-compute"):
        assert [str(effect) for effect in effects_on(refused, "other", [role])] == ["refuse"]
    assert effects_on(refused, "other", ["login"]) == ()


def test_a_drain_is_for_the_nodes_that_change() -> None:
    more = edited(("Gres=gpu:a100:2", "Gres=gpu:a100:2\nNodeName=m1"))
    result = changes(more, edited(("NodeName=m1", "NodeName=m1 Gres=gpu:1"), text=more))
    assert [str(effect) for effect in effects_on(result, "m1", ["slurm-compute"])] == ["drain"]
    assert effects_on(result, "n1", ["slurm-compute"]) == ()


@pytest.mark.parametrize(
    "broken",
    [
        "NodeName=n[1- CPUs=x\nPartitionName=\n",
        "\0\0\0",
        "ClusterName=c \\",
        "NodeName=\udcff Feature=\udcfe",
        "Include slurm.conf\nInclude nothing\n",
        "PartitionName=p Nodes=n[9-1] MaxTime=99999999-99 TRESBillingWeights==,=\nGresTypes=,,\n",
        "NodeName=n[1-99999999] Port=[1-2] NodeAddr=[",
        "SlurmctldDebug=" + "9" * 5000,
    ],
)
def test_broken_files_are_changes_and_never_errors(broken: str) -> None:
    for name in ("slurm", "gres", "topology", "cgroup", "slurmdbd", "plugstack", "job_container"):
        path = f"/etc/slurm/{name}.conf"
        before, after = {"/etc/slurm/slurm.conf": _CONF, path: _CONF}, {"/etc/slurm/slurm.conf": _CONF, path: broken}
        assert slurm_changes(before, after, SlurmRelease("24.11"))
        assert slurm_changes(after, before, SlurmRelease("24.11"))
        assert slurm_changes(after, after, SlurmRelease("24.11")) == ()


def test_lines_that_cannot_be_read_are_a_change_of_the_file() -> None:
    result = changes(_CONF, _CONF + "this is no line\n")
    assert [(change.kind, str(change.effect)) for change in result] == [("file", "reconfigure")]


@pytest.mark.parametrize(
    "much",
    [
        "x\n" * 300_000,
        "".join(f"PartitionName=q{number} Nodes=a{number}-[1-65000]\n" for number in range(40)),
        "PartitionName=DEFAULT Nodes=n[1-65000]\n" + "".join(f"PartitionName=q{number}\n" for number in range(40)),
        "".join(f"NodeName=z{number}-[1-60000] CPUs=1\n" for number in range(40)),
    ],
    ids=["lines", "names in partitions", "names by DEFAULT", "nodes"],
)
def test_a_file_too_large_to_compare_is_a_change_of_the_file(much: str) -> None:
    for old, new in ((_CONF, _CONF + much), (_CONF + much, _CONF), (_CONF + much, _CONF + much + "KillWait=1\n")):
        assert ("file", "/etc/slurm/slurm.conf") in [(change.kind, change.file) for change in changes(old, new)]
    assert changes(_CONF + much, _CONF + much) == []


BLOCKS = ("BlockName=a Nodes=n[1-2]\n", "BlockName=b Nodes=n[3-4]\n")


@pytest.mark.parametrize(
    ("old", "new", "keys"),
    [(BLOCKS[0], BLOCKS[1] + BLOCKS[0], [""]), (BLOCKS[0] + BLOCKS[1], BLOCKS[1] + BLOCKS[0], ["order"])],
)
def test_blocks_change_places_only_with_each_other(old: str, new: str, keys: list[str]) -> None:
    conf = {"/etc/slurm/slurm.conf": f"{_CONF}TopologyPlugin=topology/block\n"}
    before, after = ({**conf, "/etc/slurm/topology.conf": text} for text in (old, new))
    result = [change for change in slurm_changes(before, after, SlurmRelease("24.11")) if "topology" in change.file]
    assert [change.key for change in result] == keys


@pytest.mark.slow
def test_it_is_light_to_import() -> None:
    """An action plugin of Ansible imports it for every host."""
    heavy = "('pydantic', 'jinja2', 'yaml', 'click')"
    code = f"import sys, clustergen.diff.slurm; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300)
    assert done.stdout == "[]\n"


JOBS_A, JOBS_B = "BasePath=/var/lib/jobs\n", "BasePath=/raid Shared=true\n"


@pytest.mark.parametrize(
    ("file", "old", "new", "shown"),
    [
        ("job_container", "", JOBS_A, ["+ BasePath: None → /var/lib/jobs"]),
        ("job_container", JOBS_A, "", ["- BasePath: /var/lib/jobs → None"]),
        ("job_container", JOBS_A, "BasePath=/raid\n", ["~ BasePath: /var/lib/jobs → /raid"]),
        ("job_container", "BasePath=/raid\n", JOBS_B, ["+ Shared: None → true"]),
        ("helpers", "", "Feature=a Helper=/x\n", ["+ Feature: None → a Helper=/x"]),
        ("helpers", "Feature=a Helper=/x\n", "Feature=b Helper=/x\n", ["~ Feature: a → b"]),
        ("power", "", "PowerAction=a Program=/x\n", ["+ PowerAction: None → a Program=/x"]),
    ],
)
def test_every_change_has_a_subject(file: str, old: str, new: str, shown: list[str]) -> None:
    """Also of a line that is known by its first key alone."""
    before, after = (
        {"/etc/slurm/slurm.conf": _CONF + text}
        if file == "power"
        else {"/etc/slurm/slurm.conf": _CONF, f"/etc/slurm/{file}.conf": f"# {file}\n{text}"}
        for text in (old, new)
    )
    results = slurm_changes(before, after, SlurmRelease("24.11"))
    assert [f"{item.sign} {subject(item)}: {item.old} → {item.new}" for item in results] == shown
