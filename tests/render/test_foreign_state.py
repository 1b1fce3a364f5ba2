"""State of another cluster, of one that never saved its associations, a database of another release: who refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustergen.verify import sandbox
from clustergen.verify.slurm_roots import SlurmInstall
from strategies.slurm_daemons import DAEMONS
from strategies.trees import COMPUTE, lay_out, manifest, tree_of

pytestmark = [pytest.mark.real, pytest.mark.slow, pytest.mark.many]

_AWAITED_END = """
gone() { for _ in {1..1200}; do pgrep $1 >/dev/null || break; sleep 0.05; done; }
"""
# The command of the unit after the first start saves what 26.05 needs after a power cut.
FIRST = r"""
controller
cd /var/lib/slurm/slurmctld
drop_in=/etc/systemd/system/slurmctld.service.d/50-clustergen.conf
post=$(sed -n 's/^ExecStartPost=-//p' $drop_in | sed 's/[$][$]/$/g'); [ ! -e assoc_usage ] && echo "not saved"
eval "$post"; for _ in {1..1200}; do [ -s assoc_usage ] && break; sleep 0.05; done
pkill -9 slurmctld; gone slurmctld; echo "cut"
slurmctld -D >/run/clustergen/cut.log 2>&1 &
until_log 'Running as primary controller|fatal' /run/clustergen/cut.log; grep -o fatal /run/clustergen/cut.log
before=$(stat -c %Y%i assoc_usage); eval "$post"; [ "$before" = "$(stat -c %Y%i assoc_usage)" ] && echo "once"
pkill slurmctld; gone slurmctld
"""
SCRIPT = r"""
controller
job=$(sbatch --parsable --begin now+1hour --output /dev/null --wrap true)
pkill slurmctld; gone slurmctld
cd /var/lib/slurm/slurmctld
cp clustername /tmp/clustername; echo other >clustername
before=$(find . -type f -exec sha256sum {} + | sort)
timeout 100 slurmctld -D >/run/clustergen/other.log 2>&1; echo "slurmctld ended with $?"
[ "$before" = "$(find . -type f -exec sha256sum {} + | sort)" ] && [ -s job_state ] && echo "state untouched"
cp /tmp/clustername . && rm -f assoc_usage* # as if the power was cut in its first five minutes
slurmctld -D >/run/clustergen/young.log 2>&1 &
until_log 'Running as primary controller|fatal' /run/clustergen/young.log
if grep 'fatal: No Assoc usage file' /run/clustergen/young.log; then
  wait $!
  slurmctld -i -D >/run/clustergen/once.log 2>&1 &
  until_log 'Running as primary controller|fatal' /run/clustergen/once.log
fi
squeue -h -o %i | grep -qx "$job" && echo "queue kept"
pkill slurmctld; gone slurmctld
"""
DATABASE = r"""
ask() { mariadb --no-defaults --skip-ssl --socket=/run/mysqld/mysqld.sock slurm_acct_db "$@"; }
tables() {
  ask -N -e 'show tables' | sed 's/.*/checksum table `&`; show create table `&`;/' | ask -N
}
pkill slurmdbd; gone slurmdbd
for version in 1 99999; do
  ask -e "update convert_version_table set version = $version"
  before=$(tables)
  timeout 100 slurmdbd -D >/run/clustergen/schema-$version.log 2>&1; echo "slurmdbd ended with $?"
  [ -n "$before" ] && [ "$before" = "$(tables)" ] && echo "database untouched"
done
"""


def test_daemons_refuse_what_is_not_theirs(slurm: SlurmInstall, tmp_path: Path) -> None:
    release = ".".join(slurm.version.split(".")[:2])
    head = {"name": "head", "type": "service", "address": "10.0.0.1", "roles": ["slurm-controller", "slurm-accounting"]}
    tree = tree_of(manifest(nodes=[head, COMPUTE], slurm={"version": release}), tmp_path)
    box = sandbox.Sandbox(
        slurm.path,
        files=((lay_out(tree, "head", tmp_path / "root"), "/"),),
        hosts="10.0.0.1 head\n",
        hostname="head",
        addresses=("10.0.0.1",),
    )
    has_oldest = release != "22.05"  # which converts a database of any release
    needs_usage = release == "26.05"
    script = DAEMONS + _AWAITED_END + (FIRST if needs_usage else "") + SCRIPT + (DATABASE if has_oldest else "")
    done = sandbox.run(box, ["/bin/bash", "/run/clustergen/script"], timeout=400, notes={"script": script})
    assert "slurmctld ended with 1\nstate untouched\n" in done.stdout, done
    assert done.stdout.startswith("not saved\ncut\nonce\n" if needs_usage else "slurmctld"), done
    # docs/outage.md has the option with which 26.05 starts.
    assert ("No Assoc usage file" in done.stdout, "queue kept" in done.stdout) == (needs_usage, True), done
    assert "CLUSTER NAME MISMATCH" in done.files["other.log"]
    if has_oldest:
        assert done.stdout.endswith("slurmdbd ended with 1\ndatabase untouched\n" * 2), done
        assert "schema is too old" in done.files["schema-1.log"]
        assert "schema is from a newer version" in done.files["schema-99999.log"]
