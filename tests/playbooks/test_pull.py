"""The playbook that a node runs when it pulls: what has to wait until jobs are gone is left, and named."""

from __future__ import annotations

import pytest

from strategies.played_nodes import GOOD, Cluster, differs

pytestmark = pytest.mark.slow

MOUNT = "/etc/systemd/system/home.mount"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Cluster:
    """Nodes that pull, on which the mount unit of /home is an earlier one."""
    home = {"type": "nfs", "server": "filer", "path": "/export/home", "mount": "/home"}
    played = Cluster(
        tmp_path_factory.mktemp("pull"),
        [],
        slurm={"version": "24.11", "configless": True},
        storage={"home": home},
        ansible={"pull": {"repository": "https://git.example.org/cluster.git"}},
    )
    played.set_answer("file", {"changed": False})
    played.set_answer("node_settle", {"changed": False, "done": []})
    return played


def pull(cluster: Cluster, files: list[str], **state: object) -> tuple[int, str]:
    """Status and output of a pull on good1, which may install these files and no others."""
    answer = GOOD | {"secrets": {"/etc/munge/munge.key": "0" * 64}} | differs(None, MOUNT) | state
    cluster.set_answer("good1.node_state", answer)
    cluster.set_answer("node_put", {"changed": bool(files), "put": files, "removed": [], "done": [], "not_asked": []})
    status, output, _ = cluster.play("--limit", "good1", playbook="pull.yml")
    return status, output


def test_a_remount_is_left_to_site_yml_while_slurmd_runs(cluster: Cluster) -> None:
    status, output = pull(cluster, [])
    assert status != 0
    assert "waits until jobs are gone: " in output
    assert f"{MOUNT}" in output
    assert "Run site.yml with --limit good1, which drains this node first" in output
    # A node that answers that it has installed the unit is caught: it was not asked to.
    status, output = pull(cluster, [MOUNT])
    assert status != 0
    assert "more than 0" in output


def test_it_is_done_at_once_where_slurmd_does_not_run(cluster: Cluster) -> None:
    status, output = pull(cluster, [MOUNT], running=[])
    assert status == 0, output
    assert "waits until" not in output


@pytest.mark.parametrize("limit", ["head", "good1,good2"])
def test_one_node_that_pulls_is_required(cluster: Cluster, limit: str) -> None:
    status, output, _ = cluster.play("--limit", limit, playbook="pull.yml")
    assert status != 0
    assert "this playbook is for one node of the group pull_node" in output
