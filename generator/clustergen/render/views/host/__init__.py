"""Files of every node: names of all nodes, the time, kernel settings and limits."""

from __future__ import annotations

from clustergen.render.effects import CREATE, DAEMON_RELOAD, REBOOT, SYSCTL, reload, restart, run
from clustergen.render.file import File
from clustergen.render.formats import SHELL, YAML
from clustergen.render.views.host.clock import clock, clock_server, timezone
from clustergen.render.views.host.firewall import UNIT, reload_unit, zone
from clustergen.render.views.host.kernel import kernel
from clustergen.render.views.host.limits import limits
from clustergen.render.views.host.names import cloud_init, hosts
from clustergen.render.views.host.nftables import NFTABLES_UNIT, base, openings, unit
from clustergen.render.views.host.tuning import IRQBALANCE, grub, grubby, irqbalance, script
from clustergen.render.views.host.tuning import UNIT as TUNING

_FIREWALL = "etc/clustergen-firewall"

FILES: tuple[File, ...] = (
    File("all/etc/hosts", hosts),
    File("all/etc/cloud/cloud.cfg.d/99-clustergen.cfg", cloud_init, format=YAML),
    File("all/{os.chrony_conf}", clock, lambda view: restart(view.unit), per="os", source="all/etc/chrony/chrony.conf"),
    File(
        "slurm_controller/etc/chrony/conf.d/50-clustergen.conf", clock_server, lambda view: restart(view.unit), per="os"
    ),
    File("all/etc/tmpfiles.d/clustergen-timezone.conf", timezone, CREATE),
    File("all/etc/security/limits.d/50-clustergen.conf", limits),
    File("all/etc/systemd/system.conf.d/50-clustergen.conf", limits, DAEMON_RELOAD),
    File("all/etc/systemd/logind.conf.d/50-clustergen.conf", limits, restart("systemd-logind.service")),
    File(f"all/etc/systemd/system/{UNIT}", reload_unit, DAEMON_RELOAD, per="os"),
    File("all/etc/firewalld/zones/clustergen.xml", zone, run(UNIT), per="os"),
    File(f"all/{_FIREWALL}/main.nft", base, reload(NFTABLES_UNIT)),
    File(
        f"each/{_FIREWALL}/ports.d/{{group}}.nft",
        openings,
        reload(NFTABLES_UNIT),
        source=f"all/{_FIREWALL}/ports.d/ports.nft",
    ),
    File(f"all/etc/systemd/system/{NFTABLES_UNIT}", unit, DAEMON_RELOAD),
    File("all/etc/sysctl.d/90-clustergen.conf", kernel, SYSCTL, per="os"),
    File("all/etc/default/grub.d/90-clustergen.cfg", grub, REBOOT, per="type", format=SHELL),
    File("all/etc/clustergen/kernel-options", grubby, REBOOT, per="type"),
    File("all/etc/clustergen/tuning.sh", script, run(TUNING), values=True, per="type"),
    File(
        "all/usr/local/sbin/clustergen-tuning",
        script,
        run(TUNING),
        mode=0o755,
        per="type",
        program="tuning/clustergen-tuning.sh",
    ),
    File(f"all/etc/systemd/system/{TUNING}", script, DAEMON_RELOAD, per="type"),
    File(f"all/etc/systemd/system/{IRQBALANCE}.d/50-clustergen.conf", irqbalance, restart(IRQBALANCE), per="type"),
)
