"""What every node gets: names of all nodes, the time, kernel settings and limits."""

from __future__ import annotations

from clustergen.render.effects import DAEMON_RELOAD, SYSCTL, restart, run
from clustergen.render.file import File
from clustergen.render.formats import YAML
from clustergen.render.views.host.clock import clock, clock_server
from clustergen.render.views.host.firewall import UNIT, reload_unit, zone
from clustergen.render.views.host.kernel import kernel
from clustergen.render.views.host.limits import limits
from clustergen.render.views.host.names import cloud_init, hosts

FILES: tuple[File, ...] = (
    File("all/etc/hosts", hosts),
    File("all/etc/cloud/cloud.cfg.d/99-clustergen.cfg", cloud_init, format=YAML),
    File("all/{os.chrony_conf}", clock, lambda view: restart(view.unit), per="os", source="all/etc/chrony/chrony.conf"),
    File(
        "slurm_controller/etc/chrony/conf.d/50-clustergen.conf", clock_server, lambda view: restart(view.unit), per="os"
    ),
    File("all/etc/security/limits.d/50-clustergen.conf", limits),
    File("all/etc/systemd/system.conf.d/50-clustergen.conf", limits, DAEMON_RELOAD),
    File("all/etc/systemd/logind.conf.d/50-clustergen.conf", limits, restart("systemd-logind.service")),
    File(f"all/etc/systemd/system/{UNIT}", reload_unit, DAEMON_RELOAD, per="os"),
    File("all/etc/firewalld/zones/clustergen.xml", zone, run(UNIT), per="os"),
    File("all/etc/sysctl.d/90-clustergen.conf", kernel, SYSCTL, per="os"),
)
