"""The program that replaces files in directories that may belong to another account."""

from __future__ import annotations

from clustergen.cluster.contributions import SafeWriter
from clustergen.cluster.model import Cluster
from clustergen.render.file import File


def program(cluster: Cluster) -> bool:
    return bool(cluster.needs(SafeWriter))


FILES = (File("all/usr/local/sbin/clustergen-write", program, mode=0o755, program="write/clustergen-write.py"),)
