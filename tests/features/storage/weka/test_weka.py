"""WEKA clients: ports, and cores on which they poll."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from strategies.file_systems import UNITS, WEKA, options, stored
from strategies.trees import COMPUTE, GPU, HEAD, codes_of, manifest, node_files, run_script, runnable, text_of, tree_of


def test_weka_takes_the_ports_of_each_node_type(tmp_path: Path) -> None:
    other = {**GPU, "nics": [{"device": "eno9", "interface": "eno9", "network": "storage"}]}
    nodes = [
        {**HEAD, "roles": [*HEAD["roles"], "login"]},
        COMPUTE,
        {**COMPUTE, "name": "d[1-2]", "type": "other", "address": "10.0.0.[21-22]"},
    ]
    tree = tree_of(manifest(node_types={"gpu": GPU, "other": other}, nodes=nodes, storage={"weka": WEKA}), tmp_path)
    nets = {
        host: [
            word for word in options(text_of(tree, host, f"{UNITS}/mnt-weka.mount")) if "net=" in word or "core" in word
        ]
        for host in ("c1", "d1", "head")
    }
    assert nets == {
        "c1": ["core=30", "core=31", "core=94", "core=95", "net=ibp24s0"],
        "d1": ["core=30", "core=31", "core=94", "core=95", "net=eno9"],
        "head": ["num_cores=0", "net=udp"],
    }
    drop_in = f"{UNITS}/weka-agent.service.d/50-clustergen.conf"
    assert drop_in in node_files(tree, "c1")
    assert drop_in not in node_files(tree, "head")


@pytest.mark.parametrize(("interface", "net"), [("bond1", "net=bond1"), (None, "net=udp")])
def test_weka_leaves_the_rails_alone_where_nodes_have_storage_addresses(
    interface: str | None, net: str, tmp_path: Path
) -> None:
    networks = manifest()["networks"] | {"storage": {"cidr": "10.0.9.0/24", "interface": interface}}
    nodes = [HEAD, {**COMPUTE, "addresses": {"storage": "10.0.9.[11-14]"}}]
    data = manifest(networks=networks, nodes=nodes, storage={"weka": WEKA})
    unit = options(text_of(tree_of(data, tmp_path), "c1", f"{UNITS}/mnt-weka.mount"))
    assert [word for word in unit if word.startswith("net=")] == [net]
    assert ("weka-interface-unknown" in codes_of(data, tmp_path)) == (interface is None)


# The kernel's number of a CPU, by core as Slurm counts it and thread, on two sockets of 32 cores with two threads.
NUMBERINGS = {
    "sockets": lambda core, thread: core + 64 * thread,
    "alternating": lambda core, thread: core % 32 * 2 + core // 32 + 64 * thread,
    "siblings": lambda core, thread: core * 2 + thread,
}


def lscpu(numbering: str) -> str:
    rows = [(NUMBERINGS[numbering](core, thread), core, core // 32) for core in range(64) for thread in range(2)]
    return "# CPU,Core,Node\n" + "\n".join(",".join(map(str, row)) for row in sorted(rows))


@pytest.mark.parametrize(("cores", "too_many"), [(3, False), (4, True)])
def test_weka_never_polls_on_core_0(cores: int, too_many: bool, tmp_path: Path) -> None:
    kind = {**GPU, "cpu": {"sockets": 2, "cores_per_socket": 4}}
    data = manifest(node_types={"gpu": kind}, storage={"weka": {**WEKA, "cores": cores}})
    assert ("weka-cores" in codes_of(data, tmp_path)) == too_many


def test_weka_polls_on_the_numa_node_of_its_port(tmp_path: Path) -> None:
    """Four NUMA nodes of 8 cores in a socket: the port of node 1 is next to cores 8 to 15."""
    kind = {**GPU, "cpu": {"sockets": 1, "cores_per_socket": 32, "numa_per_socket": 4}}
    kind["gpus"] = {**GPU["gpus"], "numa": [0, 0, 1, 1, 2, 2, 3, 3]}
    entry = {**WEKA, "cores": 2, "interfaces": ["ibp64s0"]}
    text = text_of(
        tree_of(manifest(node_types={"gpu": kind}, storage={"weka": entry}), tmp_path), "c1", f"{UNITS}/mnt-weka.mount"
    )
    assert [word for word in options(text) if "core=" in word] == ["core=14", "core=15"]


@pytest.mark.slow
@pytest.mark.parametrize("numbering", NUMBERINGS)
def test_weka_polls_where_slurm_gives_out_nothing(tmp_path: Path, numbering: str) -> None:
    gpu = {**GPU, "cpu": {**GPU["cpu"], "numbering": numbering}, "reserved": {"cores": 3}}
    entry = {**WEKA, "cores": 3, "interfaces": ["ibp24s0", "ibp64s0"], "clients": ["slurm-compute"]}
    tree = tree_of(manifest(node_types={"gpu": gpu}, storage={"weka": entry}), tmp_path)
    cores = {NUMBERINGS[numbering](core, thread): core for core in range(64) for thread in range(2)}
    mounted = [int(word[5:]) for word in options(text_of(tree, "c1", f"{UNITS}/mnt-weka.mount")) if "core=" in word]
    # Both threads of the last cores of both NUMA nodes, in turn; then the system's, by Slurm's own order.
    assert sorted(cores[cpu] for cpu in mounted) == [30, 30, 31, 31, 63, 63]
    line = re.search(r"^NodeName=.*", text_of(tree, "c1", "/etc/slurm/slurm.conf"), re.MULTILINE)
    assert line
    assert "CPUSpecList=58-63,122-127 " in line[0]
    assert "CoreSpecCount" not in line[0]
    check = runnable(tree, "c1", "/usr/local/sbin/clustergen-weka-cpus", tmp_path).read_text()
    for machine in NUMBERINGS:
        done = run_script(check, {"lscpu": f"cat <<'EOF'\n{lscpu(machine)}\nEOF"}, tmp_path)
        assert (done.returncode == 0) == (machine == numbering), (machine, done.stderr)
        assert ("numbering" in done.stderr) == (machine != numbering)


def test_the_agents_setting_is_really_changed(tmp_path: Path) -> None:
    """The drop-in's own command, on a file such as the agent has."""
    text = text_of(stored(tmp_path, weka=WEKA), "c1", f"{UNITS}/weka-agent.service.d/50-clustergen.conf")
    match = re.search(r"^ExecStartPre=(.*sed.*)$", text, re.MULTILINE)
    assert match
    conf = tmp_path / "service.conf"
    conf.write_text("[os_resources]\nisolate_cpusets=true\nother = true\n", encoding="utf-8")
    done = run_script(
        f"#!/bin/bash\nPATH=/usr/sbin:/usr/bin\n{match[1].replace('/etc/wekaio/service.conf', str(conf))}\n",
        {},
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert conf.read_text(encoding="utf-8") == "[os_resources]\nisolate_cpusets=false\nother = true\n"
