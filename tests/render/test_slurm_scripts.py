"""Prolog, epilog, task prolog and health check, run at their paths, with simulated GPUs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from clustergen.verify.slurm_roots import root_with
from strategies.dcgm import dcgm_report
from strategies.slurm_scripts import AT_ONCE, EPILOG, GOOD, HEALTH, PROLOG, Node, drained, node
from strategies.slurm_trees import cluster, gpu_type, roles, settings
from strategies.trees import COMPUTE, node_files, text_of

OLD_DRIVER = 'Field "gpu_recovery_action" is not a valid field to query.\n'
RESET_REQUIRED = "GPU 3 requires a reset to recover from a fault. Recovery action: 1 (GPU_RESET)."


@pytest.fixture
def root() -> Path:
    path = root_with("pgrep")
    assert path is not None, "clustergen setup parsers makes the root that this test asks"
    return path


# --- the scripts as such ----------------------------------------------------------------------------------------------

STORAGE = {"home": {"type": "nfs", "server": "10.0.0.250", "path": "/h", "mount": "/home"}}
EVERYTHING: dict[str, Any] = {
    "slurm": {"scripts": {"tmpdir": "/scratch"}},
    "storage": STORAGE,
    "health": {"max_temperature": 60, "dcgm": "drain"},
    "host": {"admin_group": "admins"},
    "monitoring": {"dcgm": {"enabled": True}},
}


def test_scripts_that_slurm_runs_exist_and_are_executable(tmp_path: Path) -> None:
    files = node_files(cluster(tmp_path, **EVERYTHING), "c1")
    for path in ("/etc/slurm/prolog", "/etc/slurm/epilog", "/etc/slurm/task_prolog", "/etc/slurm/health"):
        assert files[path].mode == 0o755


def test_the_health_check_ends_before_slurmd_kills_it(tmp_path: Path) -> None:
    """The health check stops early enough to report its results to slurmctld."""
    text = text_of(cluster(tmp_path, **EVERYTHING), "c1", "/etc/slurm/health")
    limits = re.search(r"^limit=(\d+) # .* after (\d+)$", text, re.MULTILINE)
    assert limits is not None
    assert int(limits[1]) + 10 <= int(limits[2]) == 60


@pytest.mark.parametrize(("timeout", "limit"), [(10, 5), (300, 285)])
def test_the_runner_ends_a_script_before_slurmd_ends_the_runner(timeout: int, limit: int, tmp_path: Path) -> None:
    """At most 15 seconds before, and with half of the time at least."""
    tree = cluster(tmp_path, slurm={"scripts": {"timeout": timeout}})
    assert settings(tree)["PrologEpilogTimeout"] == str(timeout)
    assert f"\nlimit_s={limit}\n" in text_of(tree, "c1", "/etc/clustergen/job-scripts.sh")


def test_a_script_that_is_not_requested_is_not_rendered(tmp_path: Path) -> None:
    slurm = {"scripts": {"prolog": False, "epilog": False, "task_prolog": False}}
    tree = cluster(tmp_path, slurm=slurm, health={"enabled": False})
    assert not [
        path for path, file in node_files(tree, "c1").items() if path.startswith("/etc/slurm/") and file.mode & 0o111
    ]
    assert "Prolog=" not in text_of(tree, "head", "/etc/slurm/slurm.conf")


# --- prolog -----------------------------------------------------------------------------------------------------------


@pytest.mark.real
def test_a_job_on_healthy_gpus_starts_without_messages(tmp_path: Path, root: Path) -> None:
    done = node(tmp_path, root).run(PROLOG, SLURM_JOB_GPUS="0,1", CUDA_VISIBLE_DEVICES="0,1")
    assert (done.code, done.stdout, done.files.get("journal", "")) == (0, "", "")


@pytest.mark.real
def test_a_job_without_gpus_starts(tmp_path: Path, root: Path) -> None:
    assert node(tmp_path, root).run(PROLOG, outputs={"gpus": ""}).code == 0


@pytest.mark.real
def test_a_gpu_of_the_job_that_does_not_answer_keeps_it_from_starting(tmp_path: Path, root: Path) -> None:
    done = node(tmp_path, root).run(PROLOG, outputs={"gpus": "0, GPU-0\n"}, SLURM_JOB_GPUS="0,5")
    assert done.code == 1
    assert "job 77: 30-gpu failed (1): GPU 5 does not respond" in done.files["journal"]


@pytest.mark.real
def test_another_process_on_the_jobs_gpus_keeps_it_from_starting(tmp_path: Path, root: Path) -> None:
    done = node(tmp_path, root).run(PROLOG, AT_ONCE, outputs={"apps": "GPU-3, 4711, python\n"}, SLURM_JOB_GPUS="2,3")
    assert done.code == 1
    assert "GPU 3:" in done.files["journal"]


@pytest.mark.real
def test_processes_elsewhere_do_not_matter(tmp_path: Path, root: Path) -> None:
    assert node(tmp_path, root).run(PROLOG, outputs={"apps": "GPU-6, 4711, python\n"}, SLURM_JOB_GPUS="2,3").code == 0


@pytest.mark.real
@pytest.mark.parametrize(("user", "is_spared"), [(0, True), (1000, True), (1001, False)])
def test_only_a_server_of_mps_by_root_or_the_jobs_user_may_stay(
    user: int, is_spared: bool, tmp_path: Path, root: Path
) -> None:
    scene = f"""{USERS}; {AT_ONCE}
server=/usr/bin/nvidia-cuda-mps-server; cp /bin/sleep $server
as_user {user} $server 30; pid=$!
echo "GPU-3, $pid, nvidia-cuda-mps-server" >/run/clustergen/apps
{{ while kill -0 $pid; do sleep 0.1; done; : >/run/clustergen/apps; }} 2>/dev/null &"""
    done = node(tmp_path, root).run(PROLOG, scene, SLURM_JOB_GPUS="2,3")
    assert done.code == 0
    assert ("killed on the job" in done.files.get("journal", "")) != is_spared


@pytest.mark.real
def test_a_name_of_a_process_makes_no_line_of_another_user(tmp_path: Path, root: Path) -> None:
    scene = f"""{USERS}; {AT_ONCE}
as_user 1001 sleep 30; victim=$!; echo $victim >/run/clustergen/spared
printf '%s\\n' "GPU-6, 4711, x\\\\nGPU-3, $victim, y" >/run/clustergen/apps"""
    done = node(tmp_path, root).run(PROLOG, scene, SLURM_JOB_GPUS="2,3")
    assert done.files["spared"].strip() in done.files["alive"].split()
    assert done.code == 0


@pytest.mark.real
def test_shared_gpus_may_have_other_jobs(tmp_path: Path, root: Path) -> None:
    shared = node(tmp_path, root, node_types=gpu_type(shards=4))
    assert shared.run(PROLOG, outputs={"apps": "GPU-3, 4711, python\n"}, SLURM_JOB_GPUS="3").code == 0


@pytest.mark.real
def test_a_sites_script_takes_part_in_order_and_what_is_no_script_does_not(tmp_path: Path, root: Path) -> None:
    scene = """
for name in 60-site 10-first 50-old.dpkg-old '55-backup~' README; do
  printf '#!/bin/bash\\necho %s\\n' "$name" >"/etc/slurm/prolog.d/$name"
  chmod 755 "/etc/slurm/prolog.d/$name"
done
printf 'echo never' >/etc/slurm/prolog.d/70-not-executable"""
    done = node(tmp_path, root).run(PROLOG, before=scene)
    assert done.code == 0
    assert done.files["journal"].splitlines() == ["job 77: 10-first: 10-first", "job 77: 60-site: 60-site"]


@pytest.mark.real
@pytest.mark.parametrize("body", ["sleep 60", "trap : TERM; while :; do sleep 1; done"])
def test_a_script_without_end_is_named(body: str, tmp_path: Path, root: Path) -> None:
    slow = node(tmp_path, root, slurm={"scripts": {"timeout": 10}})
    scene = f"""printf '#!/bin/bash\\n{body}\\n' >/etc/slurm/prolog.d/60-slow
chmod 755 /etc/slurm/prolog.d/60-slow; sed -i s/^limit_s=.*/limit_s=1/ /etc/clustergen/job-scripts.sh"""
    done = slow.run(PROLOG, before=scene)
    assert done.code == 1
    assert "60-slow failed (124): no end within 1 seconds" in done.files["journal"]


@pytest.mark.real
def test_a_journal_that_is_gone_does_not_drain_the_node(tmp_path: Path, root: Path) -> None:
    done = node(tmp_path, root).run(
        PROLOG, before="printf '#!/bin/bash\\nexit 1\\n' >/usr/bin/logger", SLURM_JOB_GPUS="1"
    )
    assert done.code == 0


# --- scratch and the exporter's job labels ----------------------------------------------------------------------------


@pytest.mark.real
def test_a_job_has_a_directory_of_its_own_until_it_ends(tmp_path: Path, root: Path) -> None:
    box = node(tmp_path, root, slurm={"scripts": {"tmpdir": "/scratch"}})
    scene = "mkdir /scratch; ln -s /etc /scratch/keep; echo alice:x:1000:1000::/:/bin/sh >>/etc/passwd"
    script = (
        "/etc/slurm/prolog || exit; stat -c %u:%a /scratch/77; ln -s /etc/slurm /scratch/77/link; "
        "setpriv --reuid 1000 /etc/slurm/task_prolog; TMPDIR=/home/x setpriv --reuid 1000 /etc/slurm/task_prolog; "
        "/etc/slurm/epilog || exit; ls /scratch; ls /etc/slurm/prolog"
    )
    done = box.run(script, before=scene)
    lines = [line for line in done.stdout.splitlines() if not line.startswith(("export NCCL_", "export UCX_"))]
    assert lines == ["1000:700", "export TMPDIR=/scratch/77", "keep", "/etc/slurm/prolog"]


@pytest.mark.real
@pytest.mark.parametrize("left", ["ln -s /etc", "ln -s /nowhere", "mkdir", "touch"])
def test_files_of_another_user_under_the_jobs_number_are_not_handed_over(left: str, tmp_path: Path, root: Path) -> None:
    box = node(tmp_path, root, slurm={"scripts": {"tmpdir": "/scratch"}})
    scene = f"""mkdir -m 1777 /scratch; echo alice:x:1000:1000::/:/bin/sh >>/etc/passwd
setpriv --reuid 1001 --regid 1001 --clear-groups {left} /scratch/77"""
    done = box.run("/etc/slurm/prolog || exit; stat -c %u:%F:%a /scratch/77; stat -c %u /etc", before=scene)
    assert done.stdout.splitlines() == ["1000:directory:700", "0"]


@pytest.mark.real
def test_the_exporter_learns_which_job_has_which_gpu(tmp_path: Path, root: Path) -> None:
    box = node(
        tmp_path, root, monitoring={"dcgm": {"enabled": True}}, nodes=[roles("slurm-controller", "monitoring"), COMPUTE]
    )
    directory = "/run/dcgm-job-mapping"
    show = f"for f in {directory}/*; do echo ${{f##*/}}:$(cat $f); done"
    script = (
        f"/etc/slurm/prolog; {show}; SLURM_JOB_ID=78 /etc/slurm/epilog; {show}; /etc/slurm/epilog; ls -A {directory}"
    )
    # A user who held the lock would delay every job.
    script += "; setpriv --reuid 1001 --regid 1001 --clear-groups flock -n $lock true || echo closed"
    lock = "$(grep -o 9.[^[:blank:]]*lock[^[:blank:]]* /etc/slurm/prolog.d/40-job-map)"
    scene = f"mkdir {directory}; lock={lock}; export lock=${{lock#*>}}"
    done = box.run(script, before=scene, SLURM_JOB_GPUS="0,3")
    assert done.stdout.splitlines() == ["0:77", "3:77", "0:77", "3:77", "closed"]


@pytest.mark.real
def test_jobs_of_gpus_are_metrics_where_samples_have_no_label(tmp_path: Path, root: Path) -> None:
    """Prometheus reads them while two jobs share a GPU, and when both have ended."""
    metrics, directory = "/var/lib/prometheus/node-exporter/gpu-jobs.prom", "/run/dcgm-job-mapping"
    box = node(
        tmp_path,
        root,
        node_types=gpu_type(shards=4),
        monitoring={"dcgm": {"enabled": True, "job_label_limit": 0}},
        nodes=[roles("slurm-controller", "monitoring"), COMPUTE],
    )
    show = f"cat {metrics}; stat -c %a {metrics}; ls {metrics}*"
    script = (
        f"/etc/slurm/prolog; SLURM_JOB_ID=78 SLURM_JOB_GPUS=10 /etc/slurm/prolog; {show}; "
        f"/etc/slurm/epilog; SLURM_JOB_ID=78 /etc/slurm/epilog; cat {metrics}; "
        f"rm -r {metrics.rpartition('/')[0]}; /etc/slurm/prolog && ls {directory}"  # a prolog must not fail by metrics
    )
    scene = f"mkdir -p {directory} {metrics.rpartition('/')[0]}; umask 077"
    done = box.run(script, before=scene, SLURM_JOB_GPUS="0,10")
    kind = "# TYPE clustergen_gpu_job_info gauge"
    series = ['{gpu="0",hpc_job="77"} 1', '{gpu="10",hpc_job="77"} 1', '{gpu="10",hpc_job="78"} 1']
    expected = [kind, *(f"clustergen_gpu_job_info{labels}" for labels in series), "644", metrics, kind, "0", "10"]
    assert done.stdout.splitlines() == expected


@pytest.mark.real
def test_jobs_that_share_a_gpu_share_its_file(tmp_path: Path, root: Path) -> None:
    changes = {"monitoring": {"dcgm": {"enabled": True}}, "nodes": [roles("slurm-controller", "monitoring"), COMPUTE]}
    box = node(tmp_path, root, node_types=gpu_type(shards=4), **changes)
    directory = "/run/dcgm-job-mapping"
    script = (
        f"/etc/slurm/prolog; SLURM_JOB_ID=78 /etc/slurm/prolog; paste -sd, {directory}/0; "
        f"/etc/slurm/epilog; cat {directory}/0; SLURM_JOB_ID=78 /etc/slurm/epilog; ls -A {directory}"
    )
    assert box.run(script, before=f"mkdir {directory}", SLURM_JOB_GPUS="0").stdout.splitlines() == ["77,78", "78"]


# --- task prolog ------------------------------------------------------------------------------------------------------

NCCL = "# NCCL\nNCCL_DEBUG=WARN\nNCCL_IB_HCA==mlx5_0:1,mlx5_1:1\nNCCL_IB_QPS_PER_CONNECTION=2\nOTHER=x\n"


@pytest.mark.real
def test_a_task_gets_what_its_user_has_not_set(tmp_path: Path, root: Path) -> None:
    scene = f"""mkdir -p /home/alice /etc/ucx; cat >/etc/nccl.conf <<'E'
{NCCL}E
printf 'UCX_TLS=rc,sm\\nUCX_NET_DEVICES=mlx5_0:1\\n[Grace]\\nUCX_TLS=all\\n' >/etc/ucx/ucx.conf
echo NCCL_IB_QPS_PER_CONNECTION=8 >/home/alice/.nccl.conf"""
    done = node(tmp_path, root).run("/etc/slurm/task_prolog", scene, HOME="/home/alice", NCCL_DEBUG="INFO", UCX_TLS="")
    assert done.code == 0
    assert done.stdout.splitlines() == [
        "export NCCL_IB_HCA==mlx5_0:1,mlx5_1:1",
        "export UCX_NET_DEVICES=mlx5_0:1",
    ]


@pytest.mark.real
def test_a_task_starts_on_a_node_without_such_files(tmp_path: Path, root: Path) -> None:
    done = node(tmp_path, root).run("rm -f /etc/nccl.conf /etc/ucx/ucx.conf; exec /etc/slurm/task_prolog")
    assert (done.code, done.stdout) == (0, "")


# --- epilog -----------------------------------------------------------------------------------------------------------

USERS = "printf 'alice:x:1000:1000::/:/bin/sh\\nbob:x:1001:1001::/:/bin/sh\\n' >>/etc/passwd"
JOB = "/system.slice/slurmstepd.scope/job_78/step_0/user/task_0"


@pytest.mark.real
def test_processes_outside_of_all_jobs_are_ended_and_no_others(tmp_path: Path, root: Path) -> None:
    scene = f"""{USERS}
as_user 1000 sleep 301; stray=$!
as_user 1000 sleep 302; other_job=$!
as_user 1001 sleep 303; other_user=$!
as_user 0 sleep 304; system=$!
for pid in $stray $other_user $system; do cgroup_of $pid /system.slice/ssh.service; done
cgroup_of $other_job {JOB}
echo "$other_job $other_user $system" >/run/clustergen/spared"""
    done = node(tmp_path, root).run(EPILOG, scene)
    assert done.code == 0
    assert done.files["alive"].split() == done.files["spared"].split()
    assert "TERM to processes of alice outside of all jobs" in done.files["journal"]


V1 = "/slurm_c1/uid_1000/job_78/step_0/task_0"
STRAYS = {
    "/system.slice/c1_slurmstepd.scope/job_78/step_0/user/task_0": False,
    "/user.slice/user-1000.slice/user@1000.service/app.slice/slurmstepd.scope/x": True,
    "/user.slice/user-1000.slice/user@1000.service/slurm/uid_1000/x": True,
    "/user.slice/a:/slurm/uid_1000/x": True,
}


@pytest.mark.real
def test_users_name_no_cgroup_like_one_of_slurm(tmp_path: Path, root: Path) -> None:
    strays = "\n".join(
        f"as_user 1000 sleep 301; cgroup_of $! {path}" + ("" if is_stray else '; spared+=" $!"')
        for path, is_stray in STRAYS.items()
    )
    scene = f"""{USERS}
as_user 1001 sleep 302; cgroup_of $! {JOB}; spared=$!
as_user 1000 sleep 303; echo 4:freezer:{V1} >/run/v1; mount --bind /run/v1 /proc/$!/cgroup; spared+=" $!"
{strays}
echo $spared >/run/clustergen/spared"""
    done = node(tmp_path, root).run(EPILOG, scene)
    assert done.files["alive"].split() == done.files["spared"].split()


@pytest.mark.real
def test_a_cgroup_of_that_name_does_not_mean_that_slurm_tracks_jobs(tmp_path: Path, root: Path) -> None:
    cgroup = next(path for path, is_stray in STRAYS.items() if is_stray)
    scene = f"""{USERS}
as_user 1001 sleep 301; cgroup_of $! {cgroup}
as_user 1000 sleep 302; cgroup_of $! /system.slice/slurmd.service; echo $! >/run/clustergen/spared"""
    done = node(tmp_path, root).run(EPILOG, scene)
    assert done.files["spared"].strip() in done.files["alive"].split()


@pytest.mark.real
@pytest.mark.parametrize(
    ("changes", "groups"), [({}, ""), ({"host": {"admin_group": "admins"}}, "echo admins:x:2000:alice >>/etc/group")]
)
def test_without_cgroups_of_slurm_and_for_administrators_nothing_is_ended(
    changes: dict[str, Any], groups: str, tmp_path: Path, root: Path
) -> None:
    in_a_job = f"as_user 1001 sleep 302; cgroup_of $! {JOB}" if groups else ""
    spared = "as_user 1000 sleep 301; cgroup_of $! /user.slice; echo $! >/run/clustergen/spared"
    scene = f"{USERS}\n{groups}\n{in_a_job}\n{spared}"
    done = node(tmp_path, root, **changes).run(EPILOG, scene)
    assert done.code == 0
    assert done.files["spared"].strip() in done.files["alive"].split()


@pytest.mark.real
def test_processes_left_on_the_jobs_gpus_are_killed(tmp_path: Path, root: Path) -> None:
    scene = f"""{USERS}
{AT_ONCE}
as_user 1000 sleep 301; mine=$!
as_user 1001 sleep 302; theirs=$!
printf 'GPU-0, %s, python\\nGPU-0, %s, python\\n' $mine $theirs >/run/clustergen/apps
echo $theirs >/run/clustergen/spared"""
    done = node(tmp_path, root).run(EPILOG, scene, SLURM_JOB_GPUS="0")
    assert done.files["alive"] == done.files["spared"]
    assert "killed on GPU 0" in done.files["journal"]
    assert done.code == 0


@pytest.mark.real
@pytest.mark.parametrize(("script", "user"), [(PROLOG, 1001), (EPILOG, 1000)])
def test_a_set_user_id_program_on_gpus_counts_as_its_users(script: str, user: int, tmp_path: Path, root: Path) -> None:
    """Its real user is the one who started it; its effective user is root."""
    scene = f"""{USERS}; {AT_ONCE}
setpriv --ruid {user} --clear-groups sleep 30 & pid=$!; begun
echo "GPU-3, $pid, x" >/run/clustergen/apps
{{ while kill -0 $pid; do sleep 0.1; done; : >/run/clustergen/apps; }} 2>/dev/null &"""
    done = node(tmp_path, root).run(script, scene, SLURM_JOB_GPUS="3")
    assert done.code == 0
    assert "killed on " in done.files.get("journal", "")


@pytest.mark.real
def test_memory_errors_of_a_jobs_gpus_drain_the_node(tmp_path: Path, root: Path) -> None:
    done = node(tmp_path, root).run(EPILOG, outputs={"ecc": "0, 2\n", "recovery": OLD_DRIVER}, SLURM_JOB_GPUS="0")
    assert done.code == 1
    assert "35-gpu-errors failed (1): GPU 0 has 2 uncorrected memory errors" in done.files["journal"]


# --- health -----------------------------------------------------------------------------------------------------------

DRAINED = "NodeName=c1 State=IDLE+DRAIN ThreadsPerCore=2 Reason={} [root@2026-11-21T01:00:00] Comment=x"
FEWER_CHECKS = {"fabric": False, "dcgm": "drain", "max_temperature": 60}


def healthy(directory: Path, root: Path, **changes: Any) -> Node:
    nodes = [roles("slurm-controller", "monitoring"), COMPUTE]
    return node(
        directory,
        root,
        **{"health": FEWER_CHECKS, "monitoring": {"dcgm": {"enabled": True}}, "nodes": nodes, **changes},
    )


@pytest.mark.real
def test_a_healthy_node_is_left_alone_and_asks_the_controller_once(tmp_path: Path, root: Path) -> None:
    done = healthy(tmp_path, root).run(f"{HEALTH}; echo broken >/run/clustergen/node; {HEALTH}")
    assert (done.code, done.stdout, done.files.get("updates", "")) == (0, "", "")


@pytest.mark.real
@pytest.mark.parametrize(
    ("outputs", "reason"),
    [
        ({"gpus": "0, GPU-0\n"}, "clustergen: 1 of 8 GPUs respond (10-gpu-count)"),
        ({"gpus": "Unable to determine the device handle\n"}, "clustergen: 0 of 8 GPUs respond (10-gpu-count)"),
        ({"ecc": "3, 1\n", "recovery": OLD_DRIVER}, "GPU 3 has 1 uncorrected memory errors"),
        ({"recovery": "0, None\n3, Drain and Reset\n"}, "GPU 3 needs Drain and Reset"),
        ({"remapped": "00000000:1B:00.0, 1, 0\n"}, "GPU 00000000:1B:00.0 could not remap a memory row"),
        ({"nvlink": GOOD["nvlink"].replace("26.562 GB/s", "<inactive>", 1)}, "GPU 0: 17 of 18 NVLinks"),
        ({"temperature": "GPU-5, 5, 75, 0\n"}, "GPU 5 is idle and has 75 C"),
        ({"dcgm": dcgm_report("Driver", RESET_REQUIRED)}, "DCGM: GPU 3 requires a reset to recover from a fault"),
    ],
)
def test_a_sick_node_is_drained_with_the_reason(
    outputs: dict[str, str], reason: str, tmp_path: Path, root: Path
) -> None:
    assert reason in drained(
        healthy(tmp_path, root, node_types={"gpu": {"system": "hgx-h100-8"}}).run(HEALTH, AT_ONCE, outputs=outputs)
    )


@pytest.mark.real
@pytest.mark.parametrize(
    "outputs",
    [
        {"ecc": "0, [N/A]\n", "remapped": "No devices found\n"},
        {"temperature": "GPU-5, 5, 75, 98\n"},
        {
            "dcgm": dcgm_report(
                "NVLINK system", "Detected 1 datalink layer CRC error counter NvLink errors on GPU 3's NVLink"
            )
        },
        {"dcgm": "Error: unable to establish a connection\n"},
    ],
)
def test_states_that_are_no_illness(outputs: dict[str, str], tmp_path: Path, root: Path) -> None:
    assert drained(healthy(tmp_path, root).run(HEALTH, outputs=outputs)) == ""


@pytest.mark.real
def test_all_reasons_are_reported_and_hold_no_quotes(tmp_path: Path, root: Path) -> None:
    scene = """cd /etc/slurm/health.d
printf '#!/bin/bash\\necho "it\\x27s \\"broken\\" | $HOME\\nsecond line"; exit 1\\n' >60-site
chmod 755 60-site"""
    reason = drained(
        healthy(tmp_path, root).run(HEALTH, scene, outputs={"gpus": "", "ecc": "3, 1\n", "recovery": OLD_DRIVER})
    )
    assert "0 of 8 GPUs" in reason
    assert "GPU 3 has 1" in reason
    assert "60-site" in reason
    assert not set(reason) & set("'\"|$\n")


@pytest.mark.real
def test_a_node_that_we_drained_comes_back(tmp_path: Path, root: Path) -> None:
    done = healthy(tmp_path, root).run(
        HEALTH, outputs={"node": DRAINED.format("clustergen: 7 of 8 GPUs respond (10-gpu-count)")}
    )
    assert done.files["updates"] == "update|NodeName=c1|State=RESUME|"


@pytest.mark.real
@pytest.mark.parametrize("outputs", [{}, {"gpus": ""}])
def test_an_operators_drain_is_left_alone(outputs: dict[str, str], tmp_path: Path, root: Path) -> None:
    done = healthy(tmp_path, root).run(HEALTH, outputs={"node": DRAINED.format("broken fan"), **outputs})
    assert "updates" not in done.files


@pytest.mark.real
def test_the_same_reason_is_not_repeated(tmp_path: Path, root: Path) -> None:
    reason = "clustergen: 1 of 8 GPUs respond (10-gpu-count)"
    outputs = {"node": DRAINED.format(reason), "gpus": "0, GPU-0\n"}
    assert "updates" not in healthy(tmp_path, root).run(HEALTH, outputs=outputs).files


@pytest.mark.real
def test_watches_of_dcgm_are_set_where_it_has_none(tmp_path: Path, root: Path) -> None:
    done = healthy(tmp_path, root).run(HEALTH, outputs={"dcgm": "Error: Health watches not enabled\n"})
    assert done.files["updates"] == "watched\n"


@pytest.mark.real
@pytest.mark.parametrize(
    ("scene", "reason"),
    [
        ("mount -t tmpfs tmpfs /home", ""),
        ("touch -d '-2 minutes' /etc/slurm/prolog.d/*-mount-home", "/home is not mounted"),
        ("mount -t tmpfs tmpfs /home; printf '#!/bin/sh\\nexit 1\\n' >/usr/bin/stat", "/home returns an error"),
        (
            "mount -t tmpfs tmpfs /home; printf '#!/bin/sh\\nexec sleep 50\\n' >/usr/bin/stat; "
            "sed -i s/patience_s.\\*.10/3/ /etc/slurm/*.d/*-mount-home; rm /etc/slurm/health.d/50-disk",
            "/home does not respond",
        ),
    ],
)
def test_a_file_system_must_be_mounted_and_answer(scene: str, reason: str, tmp_path: Path, root: Path) -> None:
    box = healthy(tmp_path, root, storage=STORAGE)
    done = box.run(f"{HEALTH}; /etc/slurm/prolog; echo prolog $?", f"mkdir -p /home; {scene}")
    assert reason in drained(done)
    assert ("prolog 1" if reason else "prolog 0") in done.stdout


@pytest.mark.real
def test_a_job_waits_for_a_mount_that_came_with_its_prolog(tmp_path: Path, root: Path) -> None:
    """site.yml mounts after it has put all files; a prolog that failed meanwhile would drain the node."""
    scene = "mkdir -p /home; touch /etc/slurm/prolog.d/*-mount-home; (sleep 1; mount -t tmpfs tmpfs /home) &"
    done = healthy(tmp_path, root, storage=STORAGE).run("/etc/slurm/prolog; echo prolog $?", scene)
    assert (drained(done), done.stdout.strip()) == ("", "prolog 0")


def infiniband(state: str = "4: ACTIVE", rate: str = "400 Gb/sec (4X NDR)", second: str = "mlx5_1") -> str:
    ports = "; ".join(
        f"mkdir -p {device}/ports/1; echo '{output}' >{device}/ports/1/state; echo '{rate}' >{device}/ports/1/rate"
        for device, output in (("mlx5_0", "4: ACTIVE"), (second, state))
    )
    return f"mount -t tmpfs tmpfs /sys/class; mkdir /sys/class/infiniband; cd /sys/class/infiniband; {ports}"


@pytest.mark.real
@pytest.mark.parametrize(
    ("scene", "reason"),
    [
        (infiniband(), ""),
        (infiniband(state="1: DOWN"), "mlx5_1 is DOWN"),
        (infiniband(rate="100 Gb/sec (4X EDR)"), "mlx5_0 runs at 100 Gb/sec"),
        (infiniband(second="mlx5_7"), "mlx5_1 is missing"),
    ],
)
def test_the_fabrics_ports_are_up_at_full_rate(scene: str, reason: str, tmp_path: Path, root: Path) -> None:
    text = drained(healthy(tmp_path, root, health={**FEWER_CHECKS, "fabric": True}).run(HEALTH, scene))
    assert reason in text if reason else not text


@pytest.mark.real
def test_a_full_disk_drains(tmp_path: Path, root: Path) -> None:
    done = healthy(tmp_path, root).run(HEALTH, "mount -t tmpfs -o size=1M full /tmp")
    assert "/tmp has only 1024 KiB free" in drained(done)


def program(name: str, body: str) -> str:
    return f"printf '#!/bin/bash\\n%s\\n' {shlex.quote(body)} >/usr/bin/{name}; chmod 755 /usr/bin/{name}"


def service(load: str, active: str) -> str:
    body = f'[ "${{@: -1}}" = munge.service ] && echo LoadState={load} && echo ActiveState={active}'
    return program("systemctl", body)


def chrony(offset: str) -> str:
    return program("chronyc", f"echo 0A000001,10.0.0.1,3,1732780000.1,{offset},0.1,0.1,1,0,0.1,0.1,0.1,64.0,Normal")


@pytest.mark.real
@pytest.mark.many
@pytest.mark.parametrize(
    ("scene", "reason"),
    [
        (service("loaded", "active"), ""),
        (service("loaded", "activating"), ""),
        (service("not-found", "inactive"), ""),
        (service("loaded", "inactive"), "munge.service is inactive"),
        (service("loaded", "failed"), "munge.service is failed"),
        (chrony("-29.999"), ""),
        (chrony("-31.20"), "the clock is -31.20 s off"),
        (program("chronyc", "echo 506 Cannot talk to daemon; exit 1"), ""),
    ],
)
def test_a_node_without_what_jobs_need_drains(scene: str, reason: str, tmp_path: Path, root: Path) -> None:
    text = drained(healthy(tmp_path, root).run(HEALTH, scene))
    assert f"{reason} (45-system)" in text if reason else not text


@pytest.mark.real
def test_a_root_that_is_read_only_drains_unless_it_is_diskless(tmp_path: Path, root: Path) -> None:
    scene = """sed -i s#/proc/mounts#/run/mounts# /etc/slurm/health.d/45-system
echo "/dev/sda1 / ext4 ro,relatime 0 0" >/run/mounts"""
    diskless = "sed -i s/ext4/squashfs/ /run/mounts; /etc/slurm/health.d/45-system; echo $?"
    done = healthy(tmp_path, root).run(f"{HEALTH}; {diskless}", scene)
    assert "the root file system is read-only (45-system)" in drained(done)
    assert done.stdout == "0\n"


@pytest.mark.real
@pytest.mark.parametrize(
    ("lanes", "adapter", "slot", "reason"),
    [
        ("16", "16", "16", ""),
        ("8", "16", "16", "mlx5_0 has 8 of 16 PCIe lanes"),
        ("8", "16", "8", ""),  # the slot has no more
        ("0", "0", "16", ""),  # a virtual function
    ],
)
def test_adapters_have_their_lanes(
    lanes: str, adapter: str, slot: str, reason: str, tmp_path: Path, root: Path
) -> None:
    scene = f"""{infiniband()}; mkdir -p /sys/class/slot/pci; cd /sys/class/slot/pci
echo {slot} >../max_link_width; echo {lanes} >current_link_width; echo {adapter} >max_link_width
ln -s /sys/class/slot/pci /sys/class/infiniband/mlx5_0/device"""
    text = drained(healthy(tmp_path, root, health={**FEWER_CHECKS, "fabric": True}).run(HEALTH, scene))
    assert f"{reason} (40-fabric)" in text if reason else not text


@pytest.mark.real
def test_by_hand_each_check_has_its_verdict_and_nothing_changes(tmp_path: Path, root: Path) -> None:
    done = healthy(tmp_path, root).run("/etc/slurm/health show", outputs={"gpus": "0, GPU-0\n"})
    rows = dict(re.findall(r"^(\S+) +\d+\.\d s  (.+)$", done.stdout, re.MULTILINE))
    assert rows["10-gpu-count"] == "1 of 8 GPUs respond", done
    assert rows["45-system"] == rows["50-disk"] == "ok"
    assert done.code == 1
    assert "updates" not in done.files
