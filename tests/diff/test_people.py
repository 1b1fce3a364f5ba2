"""The manual steps that a diff lists: what a change requires beyond applying the tree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from clustergen.diff.steps import PUT, TURNS
from strategies.diffs import MANIFEST, diff, rendered, write

ACCOUNTS = """\
  qos:
    normal: {priority: 1}
    high: {priority: 5}
  accounts:
    vision: {users: [alice, bob]}
    robots: {parent: vision, users: [carol]}
"""
HOME = """\
storage:
  home: {type: nfs, server: 10.0.255.9, path: /export/home, mount: /home}
"""
LOGIN = '  - {name: login1, type: service, address: 10.0.255.3, roles: [login]}\n  - {name: "c[1-4]"'
NODES = '  - {name: "c[1-4]"'


def plan_of(old: Path, new: Path) -> dict[str, Any]:
    (cluster,) = json.loads(diff(old, new, "--format", "json").stdout)["clusters"]
    values: dict[str, Any] = cluster
    return values


def by_hand(cluster: dict[str, Any]) -> list[str]:
    return [step["text"] for step in cluster["steps"] if step["by"] == "manual"]


@pytest.mark.slow
@pytest.mark.parametrize("of_trees", [False, True])
def test_a_removed_user_keeps_the_account_until_it_is_removed_by_hand(tmp_path: Path, of_trees: bool) -> None:
    """clustergen-accounts only adds, so a user who is removed from the manifest stays in the database."""
    old = write(tmp_path / "a", text=MANIFEST + ACCOUNTS)
    new = write(
        tmp_path / "b",
        ("[alice, bob]", "[alice]"),
        ("    high: {priority: 5}\n", ""),
        ("    robots: {parent: vision, users: [carol]}\n", ""),
        text=MANIFEST + ACCOUNTS,
    )
    cluster = plan_of(*map(rendered, (old, new))) if of_trees else plan_of(old, new)
    (text,) = by_hand(cluster)
    for command in (
        "sacctmgr delete user name=bob account=vision cluster=small",
        "sacctmgr delete user name=carol account=robots cluster=small",
        "sacctmgr delete account name=robots cluster=small",
        "sacctmgr delete qos name=high",
    ):
        assert command in text
    assert "alice" not in text
    assert cluster["steps"][-1]["text"] == text  # after the partitions no longer name them
    assert "jobs are not affected" not in cluster["verdict"]


@pytest.mark.slow
def test_users_that_site_yml_removes_are_no_manual_step(tmp_path: Path) -> None:
    owned = MANIFEST + ACCOUNTS + "  unlisted_accounts: remove\n"
    old, new = write(tmp_path / "a", text=owned), write(tmp_path / "b", ("[alice, bob]", "[alice]"), text=owned)
    cluster = plan_of(old, new)
    assert (by_hand(cluster), cluster["worst"]) == ([], "load-accounts")


DISK = """\
storage:
  scratch: {type: local, device: LABEL=scratch, mount: /scratch}
"""


@pytest.mark.slow
def test_a_disk_is_formatted_by_hand_before_it_is_mounted_as_something_else(tmp_path: Path) -> None:
    old = write(tmp_path / "a", text=MANIFEST + DISK)
    new = write(tmp_path / "b", ("mount: /scratch", "mount: /scratch, filesystem: ext4"), text=MANIFEST + DISK)
    cluster = plan_of(old, new)
    disk = "format /dev/disk/by-label/scratch, which is xfs, as ext4 with the label scratch: its files are lost"
    assert by_hand(cluster) == [f"drain with clustergen.cluster.drain, unmount and {disk}"]
    first, put = cluster["steps"][:2]
    assert (first["by"], first["hosts"], put["by"]) == ("manual", "c[1-4]", None)
    moved = write(tmp_path / "c", ("mount: /scratch", "mount: /work"), text=MANIFEST + DISK)
    assert by_hand(plan_of(old, moved)) == []
    other = write(tmp_path / "d", ("LABEL=scratch", "LABEL=fast, filesystem: ext4"), text=MANIFEST + DISK)
    assert not any("format" in step for step in by_hand(plan_of(old, other)))  # another disk, which may be ext4 already


LUSTRE = """\
storage:
  work:
    {type: lustre, version: "2.17", mount: /work, mgs: ["10.0.255.9@tcp"], parameters: {osc.*.max_rpcs_in_flight: 32}}
"""


@pytest.mark.slow
def test_a_unit_that_goes_is_not_run_once_more(tmp_path: Path) -> None:
    old = write(tmp_path / "a", text=MANIFEST + LUSTRE)
    new = write(tmp_path / "b", (", parameters: {osc.*.max_rpcs_in_flight: 32}", ""), text=MANIFEST + LUSTRE)
    unit = "clustergen-lustre-work.service"
    steps, back = (plan_of(*sides)["steps"] for sides in ((old, new), (new, old)))
    assert f"run {unit}" in [step["text"] for step in back]
    assert [step["text"] for step in steps if unit in step["text"]] == []
    assert "systemctl daemon-reload" in [step["text"] for step in steps]


@pytest.mark.slow
def test_a_service_whose_unit_goes_is_said_to_end(tmp_path: Path) -> None:
    sides = [write(tmp_path / name, text=f"{MANIFEST}host: {{firewall: {name}}}\n") for name in ("nftables", "true")]
    reasons = {change["file"]: change["reason"] for change in plan_of(*sides)["changes"]}
    unit = "/etc/systemd/system/clustergen-nftables.service"
    assert reasons[unit] == "the unit is stopped and disabled when its file goes"


@pytest.mark.slow
def test_jobs_that_ask_for_more_nodes_than_a_partition_keeps_wait(tmp_path: Path) -> None:
    old = write(tmp_path / "a")
    fewer = plan_of(old, write(tmp_path / "b", ('debug: {nodes: "c[1-2]"', "debug: {nodes: c1")))
    text = "pending jobs of partition debug that ask for more nodes than it keeps wait"
    assert {"text": text, "reason": "PartitionNodeLimit"} in fewer["pending"]
    fewer_nodes = (('name: "c[1-4]"', 'name: "c[1-3]"'), ('address: "10.0.0.[1-4]"', 'address: "10.0.0.[1-3]"'))
    text = "pending jobs that ask for more nodes than their partition keeps wait"
    removed = plan_of(old, write(tmp_path / "c", *fewer_nodes))
    assert {"text": text, "reason": "PartitionNodeLimit"} in removed["pending"]


@pytest.mark.slow
def test_one_more_user_has_no_manual_steps(tmp_path: Path) -> None:
    old = write(tmp_path / "a", text=MANIFEST + ACCOUNTS)
    cluster = plan_of(old, write(tmp_path / "b", ("bob]", "bob, dave]"), text=MANIFEST + ACCOUNTS))
    assert by_hand(cluster) == []
    assert cluster["worst"] == "load-accounts"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "word"),
    [
        (
            ("  build:", "  state_location: /var/lib/slurm/slurmctld/state\n  build:"),
            "move its files from /var/lib/slurm/slurmctld to /var/lib/slurm/slurmctld/state",
        ),
        (
            ("name: head, type: service, address: 10.0.255.1,", "name: ctl, type: service, address: 10.0.255.2,"),
            "copy StateSaveLocation from head",
        ),
    ],
)
def test_reasons_that_keep_jobs_are_printed(tmp_path: Path, edit: tuple[str, str], word: str) -> None:
    cluster = plan_of(write(tmp_path / "a"), write(tmp_path / "b", edit))
    assert word in by_hand(cluster)[0]
    assert cluster["verdict"].startswith("not while jobs run: ")
    assert cluster["worst"] == "refuse"


@pytest.mark.slow
def test_a_backup_controller_that_leaves_is_stopped(tmp_path: Path) -> None:
    """It would take over from a controller that no longer knows it."""
    storage = "\nstorage:\n  s: {type: nfs, server: 10.0.9.9, path: /s, mount: /s, clients: [slurm-controller]}\n"
    shared = ("  build:", "  state_location: /s/state\n  build:")
    backup = "  - {name: spare, type: service, address: 10.0.255.2, roles: [slurm-controller]}\n"
    one = write(tmp_path / "a", shared, ("slurm:\n", f"{storage.lstrip()}slurm:\n"), ("nodes:\n", f"nodes:\n{backup}"))
    other = write(tmp_path / "b", shared, ("slurm:\n", f"{storage.lstrip()}slurm:\n"))
    last = plan_of(one, other)["steps"][-1]
    assert last["text"] == "stop what runs on the removed nodes, with the old tree"
    assert (last["hosts"], last["by"]) == ("spare", "ansible-playbook clustergen.cluster.remove -e nodes=spare")


@pytest.mark.slow
def test_nodes_that_power_saving_has_switched_off_are_switched_on_before_it_ends(tmp_path: Path) -> None:
    """slurmctld calls no program for them afterwards; other values of power saving leave that as it is."""
    saving = [
        ("  build:", f"  power_saving: {{command: /usr/bin/off, suspend_time: {time}}}\n  build:")
        for time in ("10min", "20min")
    ]
    old, other = (write(tmp_path / name, edit) for name, edit in zip("ab", saving, strict=True))
    (step,) = by_hand(plan_of(old, write(tmp_path / "c")))
    assert step.startswith(
        "switch on the nodes that slurmctld has switched off, and wait until they are idle: scontrol "
    )
    assert by_hand(plan_of(old, other)) == []


@pytest.mark.slow
def test_an_account_that_exists_keeps_its_number(tmp_path: Path) -> None:
    """systemd-sysusers looks at the name alone: without people, new nodes would have another number than the others."""
    cluster = plan_of(write(tmp_path / "a"), write(tmp_path / "b", ("  build:", "  uid: 64040\n  build:")))
    assert "slurm from 64030 to 64040" in by_hand(cluster)[0]
    assert "step 1 is manual" in cluster["verdict"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("edit", "hosts", "text"),
    [
        (
            ("10.0.0.[1-4]", "10.0.1.[1-4]"),
            "c[1-4]",
            "drain with clustergen.cluster.drain, wait for their jobs, and change the addresses of the machines",
        ),
        (
            ("10.0.255.1", "10.0.255.7"),
            "head",
            "add the new address to the machine, and keep the old one",
        ),
    ],
)
def test_no_file_gives_a_machine_its_address(tmp_path: Path, edit: tuple[str, str], hosts: str, text: str) -> None:
    cluster = plan_of(write(tmp_path / "a"), write(tmp_path / "b", edit))
    first, *last = [(step["text"], step["hosts"]) for step in cluster["steps"] if step["by"] == "manual"]
    assert first == (text, hosts)
    assert last == [("remove the old address from the machine", "head")] * (hosts == "head")
    assert cluster["verdict"].startswith("drains 4 nodes (c[1-4])")


FABRIC = "  fabric: {type: infiniband, rate: NDR, cidr: 10.1.0.0/24}\n"
LEFT = "reboot when it suits: what is no longer set keeps its value until then"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("old", "new", "text", "hosts"),
    [
        (
            "10.1.0.[1-4]",
            "10.1.0.[11-14]",
            "drain with clustergen.cluster.drain, wait for their jobs, and change the addresses of their interfaces",
            "c[1-4]",
        ),
        ("sysctl: {vm.swappiness: 5, ", "sysctl: {", LEFT, "c[1-4],head"),
        ("gpu: {compute_mode: exclusive-process, ", "gpu: {", LEFT, "c[1-4]"),
        ("gpu: {compute_mode: exclusive-process, persistence: false}\n", "", LEFT, "c[1-4]"),
    ],
)
def test_machines_keep_what_no_file_sets_any_more(tmp_path: Path, old: str, new: str, text: str, hosts: str) -> None:
    addresses = 'address: "10.0.0.[1-4]"'
    base = MANIFEST.replace(addresses, f'{addresses}, addresses: {{fabric: "10.1.0.[1-4]"}}')
    base = base.replace("node_types:\n", f"{FABRIC}node_types:\n")
    base += "host: {sysctl: {vm.swappiness: 5, vm.zone_reclaim_mode: 0}}\n"
    base += "gpu: {compute_mode: exclusive-process, persistence: false}\n"
    cluster = plan_of(write(tmp_path / "a", text=base), write(tmp_path / "b", (old, new), text=base))
    assert [(step["text"], step["hosts"]) for step in cluster["steps"] if step["by"] == "manual"] == [(text, hosts)]


@pytest.mark.slow
def test_a_gpu_that_refuses_a_second_process_ends_jobs(tmp_path: Path) -> None:
    cluster = plan_of(
        write(tmp_path / "a"), write(tmp_path / "b", text=f"{MANIFEST}gpu: {{compute_mode: exclusive-process}}\n")
    )
    assert cluster["verdict"].endswith("; running jobs may end early (FAILED)")


@pytest.mark.slow
def test_a_file_system_that_nobody_has_to_mount_is_not_mounted_again(tmp_path: Path) -> None:
    cluster = plan_of(
        write(tmp_path / "a", text=MANIFEST + HOME),
        write(tmp_path / "b", ("mount: /home}", "mount: /home, required: false}"), text=MANIFEST + HOME),
    )
    assert cluster["verdict"] == "files only; no restart required"


@pytest.mark.slow
def test_a_host_without_slurmd_restarts_none(tmp_path: Path) -> None:
    text = MANIFEST.replace(NODES, LOGIN)
    cluster = plan_of(write(tmp_path / "a", text=text), write(tmp_path / "b", ("[login]", "[]"), text=text))
    assert "slurmd" not in cluster["verdict"]


@pytest.mark.slow
@pytest.mark.parametrize("of_trees", [False, True])
def test_a_login_node_may_get_its_address_by_hand(tmp_path: Path, of_trees: bool) -> None:
    text = MANIFEST.replace(NODES, LOGIN)
    sides = write(tmp_path / "a", text=text), write(tmp_path / "b", ("10.0.255.3", "10.0.255.33"), text=text)
    cluster = plan_of(*map(rendered, sides)) if of_trees else plan_of(*sides)
    steps = [(step["text"], step["hosts"]) for step in cluster["steps"] if step["by"] == "manual"]
    assert steps == [("change the address of the machine", "login1")]
    assert "step 1 is manual" in cluster["verdict"]


@pytest.mark.slow
def test_a_lower_limit_of_a_qos_leaves_jobs_pending(tmp_path: Path) -> None:
    cluster = plan_of(
        write(tmp_path / "a", ("  build:", "  qos: {night: {max_wall: 2-0}}\n  build:")),
        write(tmp_path / "b", ("  build:", "  qos: {night: {max_wall: 12:00:00}}\n  build:")),
    )
    assert cluster["pending"] == [
        {
            "text": "pending jobs of QOS night that ask for more than 12:00:00 wait",
            "reason": "QOSMaxWallDurationPerJobLimit",
        }
    ]
    assert cluster["verdict"].endswith("pending jobs may wait or fail (QOSMaxWallDurationPerJobLimit)")
    raised = plan_of(
        write(tmp_path / "c", ("  build:", "  qos: {night: {max_wall: 12:00:00}}\n  build:")),
        write(tmp_path / "d", ("  build:", "  qos: {night: {max_wall: 2-0}}\n  build:")),
    )
    assert raised["pending"] == []


@pytest.mark.slow
def test_another_owner_of_slurm_takes_over_its_files(tmp_path: Path) -> None:
    cluster = plan_of(write(tmp_path / "a"), write(tmp_path / "b", ("  build:", "  user: batch\n  build:")))
    assert any("the account batch" in text and "StateSaveLocation" in text for text in by_hand(cluster))


@pytest.mark.slow
def test_each_host_has_one_turn_and_a_login_node_is_not_drained(tmp_path: Path) -> None:
    text = MANIFEST.replace(NODES, LOGIN) + HOME
    old = write(tmp_path / "a", text=text)
    cluster = plan_of(old, write(tmp_path / "b", ("mount: /home", "mount: /nfs"), text=text))
    turns = [(step["play"], step["text"], step["hosts"]) for step in cluster["steps"] if "unmount" in step["text"]]
    assert turns == [
        (PUT, "unmount home.mount, with users logged in", "login1"),
        (TURNS, "node by node: drain, unmount home.mount, resume", "c[1-4]"),
    ]
    assert cluster["verdict"].startswith("drains 4 nodes (c[1-4]); interrupts 1 node (login1) with users logged in")
    words = "pending jobs with their directory or output below /home fail when they start, or write elsewhere"
    assert {"text": words, "reason": "FAILED"} in cluster["pending"]


@pytest.mark.slow
def test_a_file_without_effect_is_listed_too(tmp_path: Path) -> None:
    """A variable of NCCL applies to jobs that start later; no daemon is restarted."""
    old, new = write(tmp_path / "a"), write(tmp_path / "b", text=MANIFEST + "nccl: {env: {NCCL_IB_TIMEOUT: 22}}\n")
    lines = diff(old, new).stdout.splitlines()
    where = next(number for number, line in enumerate(lines) if "/etc/nccl.conf" in line)
    assert f"{new}:16:1 nccl: + {{env: {{NCCL_IB_TIMEOUT: 22}}}}" in lines[where + 1]
    assert "cause: `nccl:16`; " in diff(old, new, "--format", "markdown").stdout


@pytest.mark.slow
def test_a_controller_that_is_called_otherwise_has_its_place(tmp_path: Path) -> None:
    """Its name stands in other keys than those of its node."""
    old = write(tmp_path / "a", ("max_time: 30}", "max_time: 30}\n  options: {DebugFlags: Gres}"))
    new = write(tmp_path / "b", ("name: head", "name: ctl"))
    changes = {change["key"]: change for change in plan_of(old, new)["changes"] if change["kind"] == "key"}
    for key in ("SlurmctldHost", "DbdHost"):
        assert "nodes[ctl].name" in [value["label"] for value in changes[key]["manifest"]]


@pytest.mark.slow
@pytest.mark.parametrize("moved", ["", "  scripts: {tmpdir: /local}\n"])
def test_scratch_of_running_jobs_that_no_epilog_removes(tmp_path: Path, moved: str) -> None:
    scripts = "  scripts: {tmpdir: /scratch/jobs}\n"
    old = write(tmp_path / "a", text=MANIFEST + scripts)
    new = write(tmp_path / "b", (scripts, moved), text=MANIFEST + scripts)
    plan = plan_of(old, new)
    changed = {change["file"]: change for change in plan["changes"]}["/etc/clustergen/task-prolog.sh"]
    assert (changed["key"], changed["old"], changed["new"]) == ("tmpdir", "/scratch/jobs", "/local" if moved else "")
    assert "changes environment settings of new jobs" in plan["verdict"]
    (text,) = by_hand(plan)
    assert text.startswith("remove what is left in /scratch/jobs once the jobs that run now have ended")
    assert by_hand(plan_of(new, old)) == ([text.replace("/scratch/jobs", "/local")] if moved else [])


@pytest.mark.slow
def test_a_file_system_that_clients_have_to_join_names_its_steps_once(tmp_path: Path) -> None:
    scale = "  work: {type: storage_scale, mount: /work, filesystem: work, contacts: [10.0.255.9]}\n"
    old, new = write(tmp_path / "a", text=MANIFEST + HOME), write(tmp_path / "b", text=MANIFEST + HOME + scale)
    assert [text for text in by_hand(plan_of(old, new)) if "work" in text] == [
        "follow the manual steps for file system work in the tree's README.md"
    ]
    changed = write(tmp_path / "c", text=MANIFEST + HOME + scale.replace("/work", "/elsewhere"))
    assert not [text for text in by_hand(plan_of(new, changed)) if "follow" in text]


@pytest.mark.slow
def test_changed_interfaces_are_activated_by_a_playbook_of_their_own(tmp_path: Path) -> None:
    configured = ("management: {", "management: {configure: true, interface: eno1, ")
    old = write(tmp_path / "a", configured, text=MANIFEST)
    new = write(tmp_path / "b", configured, ("domain:", "mtu: 9000, domain:"), text=MANIFEST)
    (step,) = [step for step in plan_of(old, new)["steps"] if "interfaces" in step["text"]]
    assert (step["text"], step["hosts"]) == ("activate the interfaces with clustergen.cluster.network", "c[1-4],head")


WAREWULF = """\
provisioning: {engine: warewulf, images: {gpu: debian-13}}
"""
MACS = 'macs: ["52:54:00:00:00:01", "52:54:00:00:00:02", "52:54:00:00:00:03", "52:54:00:00:00:04"]'


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "needed", "of_trees"),
    [
        (("00:04", "00:05"), "run warewulf/install.py", False),  # a node of Warewulf
        (("images: {gpu: debian-13}", "images: {gpu: debian-13-2}"), "run warewulf/install.py", True),  # its profile
        (("10.0.255.1,", "10.0.255.7,"), "run warewulf/install.py", False),  # a file in its overlay
        (("    normal: {priority: 1}", "    normal: {priority: 2}"), "", True),
        ((WAREWULF, ""), "delete nodes, profiles and overlays", True),
    ],
)
def test_a_warewulf_server_gets_what_its_nodes_boot(
    tmp_path: Path, change: tuple[str, str], needed: str, of_trees: bool
) -> None:
    text = MANIFEST.replace(NODES, NODES.replace("{", "{" + MACS + ", ")) + ACCOUNTS + WAREWULF
    sides = [write(tmp_path / "a", text=text), write(tmp_path / "b", change, text=text)]
    steps = by_hand(plan_of(*map(rendered, sides)) if of_trees else plan_of(*sides))
    on_the_server = [step for step in steps if "Warewulf server" in step]
    assert len(on_the_server) == bool(needed), steps
    assert all(step.startswith(needed) for step in on_the_server)


@pytest.mark.slow
def test_scratch_that_is_unmounted_is_cleaned_up_before(tmp_path: Path) -> None:
    disk = "storage:\n  scratch: {type: local, device: /dev/disk/by-label/scratch, mount: /scratch}\n"
    old = write(tmp_path / "a", text=MANIFEST + "  scripts: {tmpdir: /scratch/jobs}\n" + disk)
    steps = [(step["play"], step["text"]) for step in plan_of(old, write(tmp_path / "b"))["steps"]]
    assert steps[0] == (
        None,
        "drain with clustergen.cluster.drain, and remove what is left in /scratch/jobs, which is unmounted:"
        " the new epilog does not remove their directories",
    )
    assert [play for play, _ in steps].count(None) == 1


@pytest.mark.slow
@pytest.mark.parametrize("of_trees", [False, True])
@pytest.mark.parametrize(
    ("hardware", "is_more", "words"),
    [
        ("memory: 2TiB", True, "memory: 1024 → 2048 GiB"),
        ("memory: 512GiB", False, "memory: 1024 → 512 GiB"),
        ("memory: 1TiB, gpus: {count: 4, numa: [0, 0, 1, 1]}", False, "GPUs: 8 → 4"),
        ("memory: 1TiB, real_memory: 900000", True, ""),
    ],
)
def test_a_node_never_has_less_than_slurm_knows_of(
    tmp_path: Path, hardware: str, is_more: bool, words: str, of_trees: bool
) -> None:
    """Hardware comes before Slurm reads of it, and goes afterwards."""
    old, new = write(tmp_path / "a"), write(tmp_path / "b", ("memory: 1TiB", hardware))
    cluster = plan_of(*map(rendered, (old, new))) if of_trees else plan_of(old, new)
    texts = [step["text"] for step in cluster["steps"]]
    places = [number for number, text in enumerate(texts) if words and words in text]
    reread = texts.index("scontrol reconfigure, once")
    assert [number < reread for number in places] == ([is_more] if words else [])
