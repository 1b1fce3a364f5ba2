"""The real JupyterHub, where `clustergen setup notebooks` keeps it, and how it loads settings without a start."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from clustergen.verify.programs import TIMEOUT
from clustergen.verify.wheels import packages_directory

_COLLECTION = "ansible_collections.clustergen.cluster"

# The settings are those of JupyterHub's classes once an object of each has taken them.
LOAD = """
import json, logging, sys
from jupyterhub.app import JupyterHub
lines = []
class Listener(logging.Handler):
    def emit(self, record):
        lines.append(record.getMessage())
log = logging.getLogger("traitlets")
log.handlers, log.propagate = [Listener()], False
hub = JupyterHub(log=log)
hub.raise_config_file_errors = True
hub.load_config_file(sys.argv[1])
authenticator = hub.authenticator_class(parent=hub, log=log)
spawner = hub.spawner_class(parent=hub, log=log)
proxy = hub.proxy_class(parent=hub, log=log, hub=None, app=hub)
print(json.dumps({
    "lines": lines,
    "bind_url": hub.bind_url,
    "allowed_groups": sorted(authenticator.allowed_groups),
    "form": spawner.options_form,
    "services": [service["name"] for service in hub.services],
    "classes": [type(one).__name__ for one in (authenticator, spawner, proxy)],
}))
"""


def pins() -> Path:
    """The file of the role `notebooks` with the releases of all packages."""
    spec = find_spec(_COLLECTION)
    places = spec.submodule_search_locations if spec else None
    return Path(next(iter(places or ()), "")) / "roles/notebooks/files/constraints.txt"


def version() -> str:
    match = re.search(r"^jupyterhub==(\S+)$", pins().read_text(encoding="utf-8"), re.MULTILINE)
    return match[1] if match else ""


def hub_directory() -> Path:
    return packages_directory("jupyterhub", version())


def load(settings: Path) -> dict[str, object]:
    """Settings as JupyterHub takes them from a file. ValueError with its last line where it does not."""
    environment = {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        "PYTHONPATH": str(hub_directory()),
        "PYTHONDONTWRITEBYTECODE": "1",
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        [sys.executable, "-c", LOAD, str(settings)],
        env=environment,
        cwd=settings.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
        check=False,
    )
    if done.returncode:
        raise ValueError((done.stderr.strip().splitlines() or [f"status {done.returncode}"])[-1])
    answer: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return answer
