"""Real Slurm does not know exactly the keys that the table says its release does not know."""

import re

import pytest

from clustergen.catalogue import slurm, slurm_values
from clustergen.catalogue.versions import SlurmRelease
from clustergen.verify import sandbox, slurm_roots

pytestmark = pytest.mark.real
RELEASES = ("22.05", "24.11", "26.05")
VALUE = {"boolean": "yes", "string": "x", "array": "x"}
MISSING = "NoSuchKeyAtAll"


def refused(release: str, lines: list[str]) -> set[str]:
    """The keys, in lower case, that scontrol of that release calls unrecognized in a slurm.conf of these lines."""
    install = slurm_roots.for_release(release)
    assert install is not None, f"no Slurm {release} here: clustergen setup parsers builds one"
    notes = {"slurm.conf": "\n".join(lines) + "\n"}
    script = "cd /run/clustergen; SLURM_CONF=$PWD/slurm.conf exec scontrol show hostnames a"
    done = sandbox.run(sandbox.Sandbox(install.path), ["sh", "-c", script], timeout=300, notes=notes)
    return {key.lower() for key in re.findall(r"unrecognized key: (\w+)", done.stderr)}


def keys_of(block: str) -> list[slurm.SlurmKey]:
    return [key for key in slurm.keys("slurm.conf", block) if key.type != "array"]


@pytest.mark.parametrize("release", RELEASES)
@pytest.mark.parametrize("block", ["", "NodeName", "PartitionName", "NodeSet"])
def test_unrecognized_keys(release: str, block: str) -> None:
    opening = f"{block}=a " if block else ""
    keys = keys_of(block)
    lines = [f"{opening}{key.key}={VALUE.get(key.type, '1')}" for key in keys] + [f"{opening}{MISSING}=1"]
    expected = {key.key.lower() for key in keys if key.state(SlurmRelease(release)) in ("too-new", "removed")}
    assert refused(release, lines) == expected | {MISSING.lower()}


STRICT = (
    "AccountingStorageEnforce",
    "DebugFlags",
    "EnforcePartLimits",
    "PriorityUsageResetPeriod",
    "PrologFlags",
    "PropagateResourceLimits",
    "PropagateResourceLimitsExcept",
    "SelectTypeParameters",
    "TaskPluginParam",
)
# Every word is tried in a file of its own; the ones that Slurm stops on are printed.
TRY_WORDS = """cd /run/clustergen; mkdir try; export SLURM_CONF=$PWD/try/slurm.conf
while read -r key word; do
  { cat base; echo "$key=$word"; } >try/slurm.conf
  scontrol show hostnames a 2>&1 | grep -q 'fatal:' && echo "$key $word"
done <words"""
BASE = """ClusterName=c
SlurmctldHost=localhost
ProctrackType=proctrack/cgroup
SelectType=select/cons_tres
TaskPlugin=task/cgroup,task/affinity
NodeName=localhost
"""


@pytest.mark.parametrize("release", RELEASES)
def test_words_that_stop_it(release: str) -> None:
    install = slurm_roots.for_release(release)
    assert install is not None, f"no Slurm {release} here: clustergen setup parsers builds one"
    words = [word for key in STRICT for word in slurm_values.tokens(key) if not word.takes_value]
    tried = [f"{word.key} {word.token}" for word in words] + [f"{key} no_such_word" for key in STRICT]
    notes = {"base": BASE, "words": "\n".join(tried) + "\n"}
    done = sandbox.run(sandbox.Sandbox(install.path), ["sh", "-c", TRY_WORDS], timeout=240, notes=notes)
    expected = {f"{word.key} {word.token}" for word in words if word.state(SlurmRelease(release)) != "known"}
    assert set(done.stdout.split("\n")) - {""} == expected | {f"{key} no_such_word" for key in STRICT}
