"""Power saving with our Suspend and Resume programs: a container that stops and starts is the machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from strategies.lab_nodes import PATIENCE

if TYPE_CHECKING:
    from tests.nodes.conftest import Lab

pytestmark = [pytest.mark.container, pytest.mark.slow]

# The site's command: its orders lie in a directory that the machine's owner looks into.
COMMAND = """\
#!/bin/sh
mv -T "$(mktemp -p /srv/site)" "/srv/site/$2.$1"
for second in $(seq 30); do [ -e "/srv/site/$2.$1" ] || exit 0; sleep 1; done
echo "nobody switches $2 $1" >&2
exit 1
"""
# The manifest allows no times below a minute; slurmd cannot see that only its container was started.
SHORT = r"""
sed -i -E 's/^(SuspendTime=).*/\15/; s/^(SuspendTimeout=).*/\115/; s/^(ResumeTimeout=).*/\130/
  s/^SlurmctldParameters=\S+/&,power_save_interval=1/' /etc/slurm/slurm.conf
scontrol reconfigure
"""
BOOTS = """
mkdir -p /etc/systemd/system/slurmd.service.d; echo 'SLURMD_OPTIONS=-b' >/etc/lab-slurmd
printf '[Service]\\nEnvironmentFile=/etc/lab-slurmd\\n' >/etc/systemd/system/slurmd.service.d/98-lab.conf
systemctl daemon-reload
"""
# Without -M, the federation would run the job on the other cluster.
SUBMIT = "sbatch --parsable -M test-east -D /tmp -o /tmp/job-%j --wrap hostname"
METRICS = "clustergen-slurm-metrics; grep -h {} /var/lib/prometheus/node-exporter/*"


class Switch:
    """Stops and starts the container as the orders say, unless the machine is dead."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.is_dead = False
        self.done = threading.Event()
        self.orders: list[str] = []

    def watch(self) -> None:
        directory = self.lab.work.shared / "site"
        while not self.done.wait(0.5):
            for file in sorted(directory.glob("*.o*")):
                self.orders.append(file.name)
                if file.name == "e1.off":
                    self.lab.engine("stop", "--time", "10", "{e1}")
                elif not self.is_dead:
                    self.lab.engine("start", "{e1}")
                file.unlink()


@pytest.fixture
def switch(east: Lab) -> Iterator[Switch]:
    east.out("east", f"cat >/usr/local/sbin/site-power <<'EOF'\n{COMMAND}EOF\nchmod 755 /usr/local/sbin/site-power")
    east.out("e1", BOOTS)
    made = Switch(east)
    thread = threading.Thread(target=made.watch)
    thread.start()
    try:
        yield made
    finally:
        made.done.set()
        thread.join(60)


def test_an_idle_node_goes_down_a_job_wakes_it_and_one_that_stays_off_is_down(east: Lab, switch: Switch) -> None:
    east.waits("east", "sinfo -h -o %T", r"\Aidle\s*\Z")
    east.out("east", SHORT)
    state = "sinfo -h -N -n e1 -o %T"
    east.waits("east", state, "^idle~$")
    assert switch.orders == ["e1.off"]
    until = time.monotonic() + PATIENCE
    while east.run("e1", "true").returncode != 255:  # Slurm does not wait for the end of a container
        assert time.monotonic() < until, "the node is still on"
    assert 'node_asleep{node="e1"} 1' in east.out("east", METRICS.format("asleep"))

    job = east.out("east", SUBMIT).partition(";")[0]
    assert east.waits("east", f"sacct -X -n -P -j {job} -o State,NodeList", "COMPLETED") == "COMPLETED|e1"
    assert east.out("e1", f"cat /tmp/job-{job}") == "e1"
    east.waits("east", state, "^idle~$")
    assert switch.orders == ["e1.off", "e1.on", "e1.off"]

    switch.is_dead = True
    job = east.out("east", SUBMIT).partition(";")[0]
    east.waits("east", "sinfo -h -N -n e1 -o '%T %E'", "^down.* ResumeTimeout reached")
    east.waits("east", METRICS.format("'^slurm_nodes_down '"), "^slurm_nodes_down 1$")
    east.waits("east", f"squeue -h -j {job} -o %T", "^PENDING$")
    east.out("east", f"scancel {job}")
