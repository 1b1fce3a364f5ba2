"""Tuning of node types."""

from __future__ import annotations

from clustergen.render.effects import DAEMON_RELOAD, REBOOT, restart, run
from clustergen.render.file import File
from clustergen.render.formats import SHELL
from clustergen.render.views.host.tuning import IRQBALANCE, grub, grubby, irqbalance, script
from clustergen.render.views.host.tuning import UNIT as TUNING

FILES: tuple[File, ...] = (
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
