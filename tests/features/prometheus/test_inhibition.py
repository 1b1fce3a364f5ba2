"""A real Alertmanager sends one page for a dead rack or switch, and shows the rest as inhibited."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import root_with
from strategies.trees import COMPUTE, HEAD, lay_out, manifest, tree_of

MONITOR = {"name": "mon", "type": "service", "address": "10.0.0.2", "roles": ["monitoring"]}
SCRIPT = r"""
set -u
cd /etc/prometheus
prometheus-alertmanager --config.file=alertmanager.yml --storage.path=/tmp/am --cluster.listen-address= >/tmp/log 2>&1 &
am="amtool --alertmanager.url=http://127.0.0.1:9093"
for _ in $(seq 600); do $am cluster show >/dev/null 2>&1 && break; sleep 0.1; done
while read -r alert; do $am alert add $alert cluster=small || { cat /tmp/log; exit 1; }; done </run/clustergen/alerts
for _ in $(seq 600); do
  $am --output=json alert query --inhibited >/run/clustergen/inhibited.json
  $am --output=json alert query >/run/clustergen/active.json
  [ "$(cat /run/clustergen/*.json | grep -o '"fingerprint"' | wc -l)" -ge "$(wc -l </run/clustergen/alerts)" ] && exit 0
  sleep 0.1
done
exit 1
"""
CASES = {
    "a rack": (
        "alertname=RackDown severity=critical topic=node rack=r1",
        [f"alertname=NodeDown severity=critical topic=node rack=r1 instance=c{number}" for number in (1, 2)]
        + ["alertname=GpuExporterDown severity=critical topic=gpu rack=r1 instance=c1",
           "alertname=SlurmNodeDown severity=warning topic=slurm instance=c1"],
        ["alertname=NodeDown severity=critical topic=node rack=r2 instance=d1"],
    ),
    "a leaf switch": (
        "alertname=FabricSwitchDown severity=critical topic=fabric leaf=leaf1 device=mlx5_0",
        [f"alertname=FabricPortDown severity=critical topic=fabric leaf=leaf1 device=mlx5_0 instance=c{number}"
         for number in (1, 2)]
        + ["alertname=FabricPortFlaps severity=warning topic=fabric leaf=leaf1 device=mlx5_0 instance=c1"],
        ["alertname=FabricPortDown severity=critical topic=fabric leaf=leaf1 device=mlx5_1 instance=c1",
         "alertname=FabricPortDown severity=critical topic=fabric leaf=leaf2 device=mlx5_0 instance=d1"],
    ),
    "a feed": (
        "alertname=RackFeedLost severity=critical topic=probes rack=r1",
        ["alertname=PowerSupplyFailed severity=warning topic=probes rack=r1 instance=c1"],
        ["alertname=PowerSupplyFailed severity=warning topic=probes rack=r2 instance=d1"],
    ),
    "all controllers": (
        "alertname=SlurmctldUnreachable severity=critical topic=slurm",
        ["alertname=SlurmControllerDown severity=warning topic=slurm instance=head",
         "alertname=SlurmMetricsMissing severity=warning topic=slurm",
         "alertname=NodeServiceStopped severity=warning topic=node name=slurmctld.service instance=head",
         "alertname=NodeUnitFailed severity=warning topic=node name=slurmctld.service instance=head2",
         "alertname=NodeUnitFailed severity=warning topic=node name=clustergen-slurm-metrics.service instance=head"],
        ["alertname=NodeServiceStopped severity=warning topic=node name=munge.service instance=head"],
    ),
    "one controller": (
        "alertname=SlurmControllerDown severity=warning topic=slurm instance=head",
        ["alertname=NodeServiceStopped severity=warning topic=node name=slurmctld.service instance=head"],
        ["alertname=NodeServiceStopped severity=warning topic=node name=slurmctld.service instance=head2",
         "alertname=NodeServiceStopped severity=warning topic=node name=slurmdbd.service instance=head"],
    ),
    "a disk": (
        "alertname=SlurmDiskAlmostFull severity=critical topic=slurm mountpoint=/var instance=head",
        ["alertname=NodeFilesystemFull severity=warning topic=node mountpoint=/var instance=head"],
        ["alertname=NodeFilesystemFull severity=warning topic=node mountpoint=/ instance=head"],
    ),
    "a prolog": (
        "alertname=SlurmPrologFailsOnMany severity=critical topic=slurm",
        ["alertname=SlurmPrologFailed severity=warning topic=slurm instance=c1"],
        ["alertname=SlurmNodeDrained severity=warning topic=slurm instance=c9"],
    ),
    "munge of a controller": (
        "alertname=SlurmctldUnreachable severity=critical topic=slurm",
        ["alertname=NodeServiceStopped severity=warning topic=node name=munge.service instance=head"
         " roles=slurm-controller,slurm-accounting"],
        ["alertname=NodeServiceStopped severity=warning topic=node name=munge.service instance=c1 roles=slurm-compute"],
    ),
    "slurmd of many": (
        "alertname=SlurmManyNodesDown severity=critical topic=slurm",
        ["alertname=SlurmNodeDown severity=warning topic=slurm instance=c1",
         "alertname=NodeUnitFailed severity=warning topic=node name=slurmd.service instance=c1"],
        ["alertname=NodeUnitFailed severity=warning topic=node name=chrony.service instance=c1"],
    ),
    "a node": (
        "alertname=StorageNotMounted severity=critical topic=storage instance=c1",
        ["alertname=SlurmNodeDrained severity=warning topic=slurm instance=c1"],
        ["alertname=SlurmNodeDrained severity=warning topic=slurm instance=c2"],
    ),
    "a warning about a node": (
        "alertname=NodeServiceStopped severity=warning topic=node instance=c1",
        ["alertname=SlurmNodeDrained severity=warning topic=slurm instance=c1 reason=clustergen:_sssd"],
        ["alertname=SlurmNodeDrained severity=warning topic=slurm instance=c1 reason=fan"],
    ),
    "an exporter": (
        "alertname=GpuExporterDown severity=critical topic=gpu instance=c1",
        [],
        ["alertname=SlurmNodeDrained severity=warning topic=slurm instance=c1 reason=fan"],
    ),
    "one prolog": (
        "alertname=SlurmPrologFailed severity=warning topic=slurm instance=c1",
        ["alertname=SlurmNodeDrained severity=warning topic=slurm instance=c1"],
        ["alertname=SlurmNodeDown severity=warning topic=slurm instance=c1"],
    ),
}  # fmt: skip


def fields(alerts: str) -> list[str]:
    """The labels of alerts in the order of the cases, sorted."""
    names = ("alertname", "severity", "topic", "rack", "leaf", "device")
    names += ("name", "mountpoint", "instance", "roles", "reason")
    rows = [alert["labels"] for alert in json.loads(alerts)]
    return sorted(" ".join(f"{name}={labels[name]}" for name in names if name in labels) for labels in rows)


@pytest.mark.real
@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_failure_is_one_page(case: str, tmp_path: Path) -> None:
    source, inhibited, others = CASES[case]
    tree = tree_of(manifest(nodes=[HEAD, MONITOR, COMPUTE]), tmp_path)
    root = root_with("promtool")
    assert root is not None, "clustergen setup parsers makes the root that this test asks"
    box = sandbox.Sandbox(root, files=((lay_out(tree, "mon", tmp_path / "node"), "/"),))
    alerts = "".join(f"{alert}\n" for alert in (source, *inhibited, *others))
    done = sandbox.run(box, ["/bin/bash", "-c", SCRIPT], timeout=150, notes={"alerts": alerts})
    assert done.code == 0, done
    assert fields(done.files["active.json"]) == sorted([source, *others])
    assert fields(done.files["inhibited.json"]) == sorted(inhibited)
