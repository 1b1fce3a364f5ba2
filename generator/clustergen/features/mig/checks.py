"""Files of MIG Manager: well-formed YAML, which no program can read here."""

from __future__ import annotations

from yaml import __version__ as yaml_version

from clustergen.verify.check import Check, paths, unreadable
from clustergen.verify.well_formed import read_by, yaml

COMPONENT = "host"
CHECKS = (
    Check(
        name="yaml",
        what="YAML of programs that are not available",
        parser="PyYAML",
        proves="Well-formed YAML. MIG Manager, which reads these files, is not run.",
        reads=paths("/etc/nvidia-mig-manager/*.yaml"),
        ask=read_by(yaml_version, yaml),
    ),
    unreadable(
        "mig",
        "MIG layout",
        "nvidia-mig-parted",
        "NVIDIA's MIG Manager is in no distribution and requires the driver. The catalogue checks the layouts.",
        "/etc/nvidia-mig-manager/*",
    ),
)
