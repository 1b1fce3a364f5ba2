"""Expectations of a directory of Slurm's files about the machine around it."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.verify.slurm_surroundings import (
    Surroundings,
    invented_hosts,
    of_directory,
    own_addresses,
    stand_in_hosts,
)


def around(directory: Path, slurm: str, nodes: tuple[str, ...] = (), **others: str) -> Surroundings:
    (directory / "slurm.conf").write_text(slurm, encoding="utf-8")
    for name, text in others.items():
        (directory / f"{name}.conf").write_text(text, encoding="utf-8")
    return of_directory(directory, nodes)


def test_controller_is_the_first_one_with_its_own_addresses(tmp_path: Path) -> None:
    surroundings = around(tmp_path, "SlurmctldHost=a(10.0.0.1)\nSlurmctldHost=b(10.0.0.2)\n")
    assert surroundings.controller == "a"
    assert surroundings.own_names == ("a", "10.0.0.1", "localhost")
    assert "b" in surroundings.names


@pytest.mark.parametrize(
    ("line", "order"),
    [
        ("StateSaveLocation=/srv/state", "state /srv/state hpc"),
        ("SlurmdSpoolDir=/var/spool/slurmd/%n", "directory /var/spool/slurmd/c1 root"),
        ("SlurmctldLogFile=/srv/log/ctld.log", "directory /srv/log hpc"),
        ("AuthAltParameters=jwt_key=/etc/jwt.key,disable_token_creation", "secret /etc/jwt.key hpc"),
        ("AuthType=auth/slurm", "secret /etc/slurm/slurm.key hpc"),
        ("MailProg=/opt/mail", "program /opt/mail"),
        ("PluginDir=/usr/lib64/slurm:/opt/site", "plugins /opt/site"),
        ("  statesavelocation = /srv/state  # comment", "state /srv/state hpc"),
    ],
)
def test_orders(tmp_path: Path, line: str, order: str) -> None:
    assert order in around(tmp_path, f"SlurmUser=hpc\n{line}\n", ("c1",)).lines


def test_pid_files_in_run_leave_run_alone(tmp_path: Path) -> None:
    """Who owns /run decides whether munge starts."""
    surroundings = around(tmp_path, "SlurmUser=slurm\nSlurmctldPidFile=/run/slurmctld.pid\n")
    assert not any(line.startswith("directory /run ") for line in surroundings.lines)


def test_comments_count_for_nothing_and_continued_lines_for_one(tmp_path: Path) -> None:
    text = "#SlurmUser=ghost\nNodeName=c[1-2] \\\n NodeAddr=10.0.0.[1-2]\nPartitionName=p QOS=short # SlurmUser=ghost\n"
    surroundings = around(tmp_path, text)
    assert not any("ghost" in line for line in surroundings.lines)
    assert {"c1", "c2", "10.0.0.1", "10.0.0.2"} <= set(surroundings.names)
    assert surroundings.qos == ("short",)


def test_devices_are_those_of_gres_conf(tmp_path: Path) -> None:
    gres = "Name=gpu File=/dev/nvidia[0-1,4]\nName=gpu File=/dev/nvidia-caps/nvidia-cap[21-22],/dev/fpga[0-1]_ctl\n"
    surroundings = around(tmp_path, "ClusterName=c\n", gres=gres)
    assert surroundings.devices == (
        "/dev/fpga0_ctl",
        "/dev/fpga1_ctl",
        "/dev/nvidia-caps/nvidia-cap21",
        "/dev/nvidia-caps/nvidia-cap22",
        "/dev/nvidia0",
        "/dev/nvidia1",
        "/dev/nvidia4",
    )
    assert not surroundings.autodetect
    assert around(tmp_path, "ClusterName=c\n", gres="AutoDetect=nvml\n").autodetect


@pytest.mark.slow
def test_every_invented_address_is_another_one() -> None:
    lines = invented_hosts([f"c{n}" for n in range(70_000)] + ["10.0.0.1"]).splitlines()
    assert len({line.split()[0] for line in lines}) == len(lines) == 70_000


def test_own_addresses_come_from_the_hosts_file_and_leave_loopback_out() -> None:
    hosts = "127.0.0.1 localhost me\n10.0.0.1 head head.site # head of all\n::2 six\n"
    assert own_addresses(["head", "10.0.0.9", "localhost", "six", "unknown"], hosts) == ("10.0.0.1", "10.0.0.9", "::2")


def test_only_a_database_and_a_slurmdbd_of_others_have_a_stand_in(tmp_path: Path) -> None:
    slurm = "AccountingStorageHost=dbd\nAccountingStorageBackupHost=spare\n"
    services = around(tmp_path, slurm).services
    assert services == ("dbd", "spare")
    assert stand_in_hosts(services, "10.0.0.2 dbd\n") == "127.0.0.1 spare\n"
    services = around(tmp_path, slurm, slurmdbd="StorageHost=db.example.org\nStorageBackupHost=10.0.0.9\n").services
    assert stand_in_hosts(services, "10.0.0.2 dbd\n") == "127.0.0.1 db.example.org\n"
