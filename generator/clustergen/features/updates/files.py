"""Files that hold packages back and install security updates: of apt and unattended-upgrades, and of dnf."""

from __future__ import annotations

from clustergen.catalogue.operating_systems import OperatingSystem
from clustergen.catalogue.package_effects import held_patterns
from clustergen.cluster.model import Cluster
from clustergen.features.updates.needs import AUTOMATIC
from clustergen.features.updates.resolved import Updates
from clustergen.render.effects import NONE, restart
from clustergen.render.file import Context, File


def _patterns(updates: Updates, os: OperatingSystem, family: str) -> tuple[str, ...] | None:
    """None on systems of another family."""
    return held_patterns(updates.hold, family) if os.fact("family") == family else None


def _expression(pattern: str) -> str:
    """A pattern of a shell as unattended-upgrades reads it, by re.match."""
    return pattern.replace(".", "[.]").replace("*", ".*").replace("[!", "[^") + "$"


def apt(_: Cluster, os: OperatingSystem, updates: Updates) -> Context | None:
    """`held`: regular expressions of names, from their beginning."""
    held = _patterns(updates, os, "debian")
    return None if held is None else {"security": updates.security, "held": tuple(map(_expression, held))}


def holds(_: Cluster, os: OperatingSystem, updates: Updates) -> Context | None:
    """The priority of installed versions is above all that repositories offer."""
    held = _patterns(updates, os, "debian")
    return {"patterns": held, "priority": 1001} if held else None


def lifted(_: Cluster, os: OperatingSystem, updates: Updates) -> Context | None:
    """The priority of installed versions is apt's default."""
    held = _patterns(updates, os, "debian")
    return {"patterns": held, "priority": 100} if held else None


def locks(_: Cluster, os: OperatingSystem, updates: Updates) -> Context | None:
    """Patterns of names that dnf neither installs nor upgrades."""
    held = _patterns(updates, os, "rhel")
    return {"patterns": held} if held else None


def automatic(_: Cluster, os: OperatingSystem, updates: Updates) -> Context | None:
    return {"apply": "yes" if updates.security else "no"} if os.fact("family") == "rhel" else None


_HOLDS = "all/etc/apt/preferences.d/clustergen-holds"
FILES = (
    File("all/etc/apt/apt.conf.d/52clustergen-updates", apt, per="os"),
    File(_HOLDS, holds, per="os"),
    File("all/etc/clustergen/apt-replace.conf", lifted, per="os"),
    File("all/etc/clustergen/apt-replace.pref", lifted, per="os", source=_HOLDS),
    File("all/etc/dnf/plugins/versionlock.list", locks, per="os"),
    File(
        "all/etc/dnf/automatic.conf",
        automatic,
        lambda view: restart(AUTOMATIC) if view["apply"] == "yes" else NONE,
        per="os",
    ),
)
