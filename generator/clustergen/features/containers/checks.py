"""Container runtimes: Docker and Podman read their own files."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from clustergen.verify.check import Check, Question, Reader, failure, paths, unreadable
from clustergen.verify.programs import Answer

# Without shared memory and overlays, which the sandbox has not; as a user, whose storage is another than that of root.
_PODMAN = r"""
printf '[engine]\nlock_type="file"\n' >/tmp/override.conf
mkdir -p /tmp/run /tmp/bundle/bin /tmp/home
export CONTAINERS_CONF_OVERRIDE=/tmp/override.conf STORAGE_DRIVER=vfs PODMAN_IGNORE_CGROUPSV1_WARNING=1
export _CONTAINERS_USERNS_CONFIGURED=done _CONTAINERS_ROOTLESS_UID=1 USER=daemon HOME=/tmp/home XDG_RUNTIME_DIR=/tmp/run
cd /tmp
"$program" --log-level=debug info --format json >/run/clustergen/info || exit 1
"$program" create --name trial --rootfs /tmp/bundle /bin/true >/dev/null || exit 1
"$program" inspect trial >/run/clustergen/container
"""
_UNKNOWN = re.compile(r'msg="(Failed to decode keys .*)"')
_PAIR = re.compile(r"^(\w+) = \"?(.*?)\"?$", re.MULTILINE)


def _podman(answer: Answer, question: Question) -> Iterator[str]:
    """Its complaints, and settings of the files that it does not report."""
    lines = failure(answer)
    yield from (line for line in lines if "level=debug" not in line and "level=info" not in line)
    if answer.code != 0:
        return
    yield from (match[1].replace("\\", "") for match in _UNKNOWN.finditer(answer.err))
    info: dict[str, Any] = json.loads(answer.notes["info"])
    host, store = info["host"], info["store"]
    reported = {
        "cgroups": json.loads(answer.notes["container"])[0]["HostConfig"]["Cgroups"],
        "cgroup_manager": host["cgroupManager"],
        "runtime": host["ociRuntime"]["name"],
        "events_logger": host["eventLogger"],
        "rootless_storage_path": store["graphRoot"],
    }
    reads = {name: value for name, value in info["registries"].items() if name != "search"}
    for entry in question.entries:
        for key, value in _PAIR.findall(entry.text):
            if key in reported and reported[key] != value.replace("$USER", "daemon"):
                yield f"{key} is {reported[key]}, not {value}"
            elif key not in reported and key in ("prefix", "location") and value not in json.dumps(reads):
                yield f"no registry or mirror {value}"
            elif key not in (*reported, "prefix", "location", "insecure", "driver", "runroot", "graphroot", "volumes"):
                yield f"{key} is not reported"


CHECKS = (
    Check(
        name="docker",
        what="containers: Docker",
        parser="dockerd --validate",
        proves="Docker's daemon accepts every key and value. It is not started.",
        reads=paths("/etc/docker/daemon.json"),
        ask=Reader("dockerd", '"$program" --version', '"$program" --validate --config-file "$1"', newest=True),
    ),
    Check(
        name="podman",
        what="containers: Podman and registries",
        parser="podman",
        proves="Podman, as a user without root, reports every setting of the files, the directory of its images and "
        "the mirrors of registries, and creates a container with them. It is not started, and no registry is asked.",
        reads=paths("/etc/containers/*"),
        ask=Reader("podman", '"$program" --version 2>/dev/null', _PODMAN, _podman),
    ),
    unreadable(
        "enroot",
        "containers of jobs",
        "enroot",
        "enroot is in no distribution. Another row checks that its mount table has the form of an fstab.",
        "/etc/enroot/*",
    ),
    unreadable(
        "apptainer",
        "containers: Apptainer",
        "apptainer",
        "Debian has no package of Apptainer. The names of its settings are unconfirmed.",
        "/etc/apptainer/*",
    ),
    unreadable(
        "oci.conf",
        "Slurm: OCI jobs",
        "slurmstepd",
        "Slurm reads it when a job starts a container; slurmctld and slurmd start with any text in it. Jobs "
        "ran with it by hand in a lab, with Slurm 24.11 and crun.",
        "/etc/slurm/oci.conf",
    ),
)
