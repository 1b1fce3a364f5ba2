"""Container runtimes: enroot and pyxis, Docker, Podman, Apptainer, Slurm's OCI jobs, and registry mirrors."""

from __future__ import annotations

AREA = "containers"
