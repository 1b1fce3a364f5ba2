"""Packages by purpose: every purpose that a tree names is known to the systems and to the roles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from strategies.trees import COMPUTE, GPU, HEAD, manifest, tree_of

ROOT = Path(__file__).resolve().parents[3]
ROLES = ROOT / "playbooks/ansible_collections/clustergen/cluster/roles"
STORAGE = {
    "fast": {"type": "lustre", "mount": "/fast", "mgs": ["10.1.0.9@o2ib"], "clients": ["slurm-compute"]},
    "home": {
        "type": "nfs",
        "server": "head",
        "path": "/tank/home",
        "mount": "/srv/home",
        "export": {"zfs": {"disks": ["/dev/sda", "/dev/sdb", "/dev/sdc", "/dev/sdd"]}},
    },
    "raid": {"type": "local", "mount": "/raid", "device": "/dev/nvme1n1"},
    "old": {"type": "beegfs", "version": "7.4", "mount": "/old", "mgmtd": "10.0.0.8"},
    "work": {"type": "storage_scale", "mount": "/work", "filesystem": "work", "contacts": ["10.0.0.7"]},
}
SERVER = {key: GPU[key] for key in ("cpu", "memory", "nics")}
FULL: dict[str, Any] = {
    "networks": {
        "management": {"cidr": "10.0.0.0/24", "domain": "cluster.local"},
        "fabric": {"type": "infiniband", "rate": "NDR", "cidr": "10.1.0.0/24", "subnet_manager": {"where": "node"}},
    },
    "node_types": {"gpu": GPU, "server": SERVER},
    "nodes": [
        {**HEAD, "type": "server", "roles": [*HEAD["roles"], "nfs-server", "monitoring", "subnet-manager"]},
        {**COMPUTE, "addresses": {"fabric": "10.1.0.[11-14]"}},
        {"name": "login1", "type": "service", "address": "10.0.0.50", "roles": ["login"]},
    ],
    "storage": STORAGE,
    "gpu": {"driver": "580", "acs": "off"},
    "slurm": {"version": "24.11", "pyxis": {"enabled": True}},
}
PARTS = {"contrib", "universe", "highavailability", "archive", "epel"}


def variables(directory: Path, **changes: Any) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """group_vars of all hosts, and of each operating system."""
    values = {
        Path(path).stem: yaml.safe_load(file.content)
        for path, file in tree_of(manifest(**changes), directory).files.items()
        if path.startswith("inventory/group_vars/")
    }
    return values.pop("all"), values


@pytest.mark.slow
@pytest.mark.parametrize("system", ["debian-12", "debian-13", "ubuntu-22.04", "ubuntu-24.04", "rocky-9"])
def test_every_purpose_has_packages_or_comes_as_an_archive(system: str, tmp_path: Path) -> None:
    slurm = {**FULL["slurm"], "build": "schedmd"}
    general, (of_system,) = (lambda pair: (pair[0], pair[1].values()))(
        variables(tmp_path, **{**FULL, "os": system, "slurm": slurm})
    )
    table = yaml.safe_load((ROLES / "repositories/vars/main.yml").read_text(encoding="utf-8"))["repositories_table"]
    purposes_in_use = {purpose for purposes in general["cluster_packages"].values() for purpose in purposes}
    without = {purpose for purpose in purposes_in_use if not of_system["os_packages"][purpose]}
    archived = {purpose for purpose, origin in of_system["os_repositories"].items() if origin == "archive"}
    assert without <= archived | {"nvidia_pinning_580"}  # dnf has module streams for it
    assert set(of_system["os_repositories"].values()) - PARTS <= table.keys()
    assert of_system["os_repositories"]["slurmd"] == "slurm"


@pytest.mark.slow
def test_nodes_get_what_they_are_for(tmp_path: Path) -> None:
    general, _ = variables(tmp_path, **FULL)
    packages = general["cluster_packages"]
    assert {"nvidia_pinning_580", "nvidia_driver_open"} <= set(packages["type_gpu"])
    assert {"kernel_headers", "pci"} <= set(packages["gpu_node"])
    assert "beegfs_7" in packages["mount_old"]
    assert {"zfs", "nfs_server"} <= set(packages["export_home"])
    assert packages["subnet_manager"] == ["opensm"]
    assert "opensm" not in {
        purpose for group, result in packages.items() if group != "subnet_manager" for purpose in result
    }
    assert "rdma" in packages["fabric_node"]
    assert not set(packages["all"]) & {p for group, result in packages.items() if group != "all" for p in result}
    assert general["cluster_paths"]["slurm_node"] == ["/usr/local/lib/slurm/spank_pyxis.so"]
    assert general["cluster_exports"][0]["zpool"] == "tank"
    assert [disk["device"] for disk in general["cluster_disks"]] == ["/dev/nvme1n1"]


@pytest.mark.slow
def test_each_node_type_gets_the_driver_that_serves_its_gpus(tmp_path: Path) -> None:
    kinds = {
        "old": {"system": "dgx1-v100"},
        "new": {"system": "dgx-b200", "gpus": {"driver": "570"}},
        "rack": {"system": "gb300-nvl72-tray"},
    }
    nodes = [HEAD, *({"name": name, "type": name, "address": f"10.0.0.{20 + n}"} for n, name in enumerate(kinds))]
    general, systems = variables(tmp_path, node_types=kinds, nodes=nodes, gpu={"driver": "auto"})
    assert general["nvidia_driver_branches"] == {"type_old": "580", "type_new": "570", "type_rack": "620"}
    assert general["nvidia_kernel_modules"] == {"type_old": "proprietary", "type_new": "open", "type_rack": "open"}
    tables = {"type_old": "os_debian_13", "type_new": "os_debian_13", "type_rack": "os_debian_13_aarch64"}
    packages = {
        group: [
            name
            for purpose in general["cluster_packages"][group]
            if purpose.startswith("nvidia_")
            for name in systems[table]["os_packages"][purpose]
        ]
        for group, table in tables.items()
    }
    assert packages == {
        "type_old": ["nvidia-driver-pinning-580", "cuda-drivers"],
        "type_new": [
            "nvidia-driver-pinning-570", "nvidia-open", "nvidia-fabricmanager-570", "libnvidia-nscq-570", "nvlsm",
            "infiniband-diags", "libnvsdm-570",
        ],
        "type_rack": ["nvidia-driver-pinning-620", "nvidia-open", "nvidia-imex"],
    }  # fmt: skip


def test_imex_is_of_the_branch_of_the_driver(tmp_path: Path) -> None:
    general, systems = variables(tmp_path, node_types={"gpu": {"system": "gb200-nvl72-tray"}}, gpu={"driver": "570"})
    assert "nvidia_imex_570" in general["cluster_packages"]["type_gpu"]
    assert systems["os_debian_13_aarch64"]["os_packages"]["nvidia_imex_570"] == ["nvidia-imex-570"]
    assert systems["os_debian_13_aarch64"]["os_repositories"]["nvidia_imex_570"] == "cuda"


@pytest.mark.slow
def test_slurm_comes_from_the_distribution_only_where_it_has_the_release(tmp_path: Path) -> None:
    _, systems = variables(tmp_path, slurm={"version": "24.11"})
    assert systems["os_debian_13"]["os_packages"]["slurmd"] == ["slurmd"]
    assert "slurmd" not in systems["os_debian_13"]["os_repositories"]
    _, systems = variables(tmp_path, slurm={"version": "26.05"})
    assert systems["os_debian_13"]["os_packages"]["slurmd"] == ["slurm-smd-slurmd", "slurm-smd-client"]
    assert systems["os_debian_13"]["os_repositories"]["slurmd"] == "slurm"


@pytest.mark.slow
def test_a_key_for_jwt_is_made_where_slurm_conf_names_one(tmp_path: Path) -> None:
    """Debian's slurmctld starts with auth/jwt only beside a package of its own."""
    options = {"AuthAltTypes": "auth/jwt", "AuthAltParameters": "jwt_key=/var/spool/slurm/jwt.key"}
    general, systems = variables(tmp_path, slurm={"version": "24.11", "options": options})
    assert [group for group, listed in general["cluster_packages"].items() if "slurm_plugin_auth_jwt" in listed] == [
        "slurm_accounting",
        "slurm_node",
    ]
    assert systems["os_debian_13"]["os_packages"]["slurm_plugin_auth_jwt"] == ["slurm-wlm-jwt-plugin"]
    secret = next(secret for secret in general["cluster_secrets"] if secret["name"] == "jwt")
    assert secret["path"] == "/var/spool/slurm/jwt.key"
    assert secret["groups"] == ["slurm_controller", "slurm_accounting"]
    assert secret["origin"] == "made"


@pytest.mark.slow
def test_a_plugin_with_a_package_of_its_own_is_installed(tmp_path: Path) -> None:
    """slurmd does not start without; SchedMD's packages have all plugins in one, on which its daemons depend."""
    options = {"JobCompType": "jobcomp/mysql", "JobSubmitPlugins": "require_timelimit"}
    slurm = {"mpi_default": "pmix", "accounting": {"energy": "ipmi"}, "options": options}
    packages = {
        "slurm_plugin_acct_gather_energy_ipmi": ["slurm-wlm-ipmi-plugins"],
        "slurm_plugin_jobcomp_mysql": ["slurm-wlm-mysql-plugin"],
    }
    for build, (os, release, expected) in {
        "distribution": ("debian-12", "22.05", packages),
        "schedmd": ("debian-13", "24.11", {}),
    }.items():
        (tmp_path / build).mkdir()
        general, systems = variables(tmp_path / build, os=os, slurm={"version": release, "build": build, **slurm})
        (names,) = [each["os_packages"] for each in systems.values()]
        assert {purpose: names[purpose] for purpose in names if purpose.startswith("slurm_plugin_")} == expected
        assert expected.keys() <= set(general["cluster_packages"]["slurm_node"])


@pytest.mark.slow
def test_where_programs_come_as_archives_a_monitoring_node_without_them_is_behind(tmp_path: Path) -> None:
    monitor = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
    slurm = {"version": "24.11", "build": "schedmd"}
    general, _ = variables(tmp_path, os="rocky-9", slurm=slurm, nodes=[HEAD, monitor, COMPUTE])
    assert general["cluster_paths"]["monitoring"] == ["/usr/local/bin/prometheus", "/usr/local/bin/alertmanager"]
    general, _ = variables(tmp_path, nodes=[HEAD, monitor, COMPUTE])
    assert "monitoring" not in general["cluster_paths"]
