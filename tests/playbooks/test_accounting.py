"""Plan of `site.yml` and facts of drift: changes by hand that no file of the tree has."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.hardware.discovery.recordings import Reader
from strategies.played_nodes import GOOD, Answer, Cluster, differs, packed

LINES = (
    "differs\tQOS high Priority\t7\t100\ndiffers\tuser bob in vision\tmissing\t\n"
    "unlisted\tuser carol in vision\ncompared\n"
)
SECRETS = {"/etc/munge/munge.key": "0" * 64, "/etc/clustergen/secrets/slurmdbd.conf": "0" * 64}
COUNT = "2 settings of the accounting database (QOS high Priority: 7, expected 100; user bob in vision: missing)"
PROGRAM = "/usr/local/sbin/clustergen-accounts"


def outputs(text: str) -> Answer:
    return {"outputs": {"files": {"accounts": packed(text.encode())} if text else {}, "late": [], "large": []}}


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    return Cluster(tmp_path, [])


@pytest.mark.slow
@pytest.mark.many
@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (outputs("compared\n"), "up to date"),
        (
            outputs(LINES),
            f"{COUNT}; requires: load-accounts; not in the manifest, left untouched: user carol in vision",
        ),
        (outputs(""), "up to date; the accounting database was not compared: slurmdbd does not answer"),
        (outputs("") | differs(packed(b"# old"), PROGRAM), "1 file; requires: load-accounts"),
        (
            outputs("compared\n") | {"foreign": ["/etc/slurm/prolog.d/99-rogue"]},
            "up to date; not of the tree, left untouched: /etc/slurm/prolog.d/99-rogue",
        ),
        (
            outputs("compared\n") | {"slipped": [["slurmd", "24.11.6", "24.11.5"]], "unrecorded": True},
            "versions of held packages are not recorded; held packages changed: slurmd 24.11.6 instead of 24.11.5",
        ),
        (outputs("differs\nunlisted\ncompared\n"), "invalid answer from clustergen's module"),
    ],
    ids=["same", "changed", "silent", "new", "foreign", "held", "lies"],
)
def test_the_plan_names_what_sacctmgr_changed(cluster: Cluster, answer: Answer, message: str) -> None:
    cluster.set_answer("head.node_state", GOOD | {"host": "head", "secrets": SECRETS} | answer)
    _, text, _ = cluster.play("--check", "--diff")
    assert message in " ".join(text.split())
    assert ("-QOS high Priority: 7\n-user bob in vision: missing\n+QOS high Priority: 100" in text) == (COUNT in text)


@pytest.mark.slow
def test_drift_records_what_sacctmgr_changed(cluster: Cluster, tmp_path: Path) -> None:
    cluster.set_answer("head.node_state", GOOD | {"host": "head", "secrets": {}} | outputs(LINES))
    cluster.play("-e", f"facts={tmp_path / 'facts'}", playbook="clustergen.cluster.drift")
    facts = Reader(tmp_path / "facts").node("head")
    assert facts.tree is not None
    assert facts.tree.accounts == (("QOS high Priority", "7", "100"), ("user bob in vision", "missing", ""))
    assert facts.tree.unlisted == ("user carol in vision",)
    assert "accounts" not in facts.others
