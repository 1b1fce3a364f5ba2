"""The other files beside slurm.conf: those whose keys the manifest takes, and those that go to `site/` as they are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from posixpath import basename, dirname

from clustergen.adopt.comments import readable
from clustergen.adopt.draft import Draft
from clustergen.adopt.fabric import take_topology
from clustergen.adopt.gres import take_gpus
from clustergen.adopt.lines import PLACES, take_lines
from clustergen.adopt.machines import Machines
from clustergen.adopt.originals import CONFIGS, Originals
from clustergen.adopt.settings import option_value
from clustergen.catalogue import slurm
from clustergen.diagnostics import ManifestPath
from clustergen.diagnostics.secrets import find_secrets

_OPTIONS: dict[str, ManifestPath] = {
    "cgroup.conf": ("slurm", "cgroup_options"),
    "mpi.conf": ("slurm", "mpi_options"),
    "acct_gather.conf": ("slurm", "acct_gather_options"),
}
WHOLE = (
    *("plugstack.conf", "job_container.conf", "namespace.yaml", "oci.conf", "helpers.conf"),
    *("burst_buffer.conf", "knl.conf", "knl_cray.conf", "knl_generic.conf", "cli_filter.lua", "scrun.lua"),
)
"""Files for which the manifest has no keys, wanted wherever slurm.conf is."""
_ON_CONTROLLER = ("job_submit.lua",)
_SCRIPTS = {
    **dict.fromkeys(("Prolog", "Epilog", "TaskProlog", "TaskEpilog", "HealthCheckProgram"), "slurm_compute"),
    **dict.fromkeys(("PrologSlurmctld", "EpilogSlurmctld", "ResumeProgram", "SuspendProgram"), "slurm_controller"),
    **dict.fromkeys(("ResumeFailProgram", "MailProg", "SlurmctldPrimaryOnProg"), "slurm_controller"),
    **dict.fromkeys(("SrunProlog", "SrunEpilog"), "slurm_node"),
}
"""Keys that name a program → the group that runs it."""
_PROLOGS = ("/etc/slurm/", "/etc/slurm-llnl/")
_LARGEST = 1 << 20
_SHOWN = 12


def take_files(draft: Draft, originals: Originals, machines: Machines, books: Iterable[Path]) -> None:
    """Everything in the folder but slurm.conf and slurmdbd.conf."""
    for file, path in _OPTIONS.items():
        conf = originals.configs.get(file)
        for lower in conf.keys() if conf else ():
            assert conf is not None
            setting = conf.settings(lower)[-1]
            key = known.key if (known := slurm.key(file, setting.key)) else setting.key
            origin = originals.origin(setting)
            if any(True for _ in find_secrets(f"{key}: {setting.text}", {key: setting.text})) or "pass" in lower:
                words = f"{key} of {file} is a secret, and nothing of it is in the manifest"
                draft.note("secret", words, origin.place, key)
                continue
            draft.set((*path, key), option_value(setting.text), [origin])
    take_topology(draft, originals, machines)
    if "gres.conf" not in originals.configs and draft.gpu_types:
        words = "There was no gres.conf; without this line one is made of the GPUs."
        draft.set(PLACES["gres.conf"], (), comments=[words])
    elif "gres.conf" in originals.configs and draft.gpu_types:
        take_gpus(draft, originals, machines)
    elif "gres.conf" in originals.configs:
        take_lines(draft, originals, "gres.conf")
    _gres_types(draft)
    _whole_files(draft, originals, books)


def _gres_types(draft: Draft) -> None:
    """GresTypes follows from the GPUs, unless the files say another."""
    path: ManifestPath = ("slurm", "options", "GresTypes")
    stated = draft.items.get(path)
    fields = {item.path[-1] for item in draft.below(("node_types",)) if item.path[2:3] == ("gpus",)}
    derived = {"gpu", *({"shards": "shard", "mps": "mps"}[str(field)] for field in fields & {"shards", "mps"})}
    said = {word.strip().lower() for word in str(stated.value).split(",")} if stated else set()
    if draft.gpu_types and stated is None:
        draft.set(path, "", comments=["slurm.conf has none, so Slurm knows no GPUs."])
    elif draft.gpu_types and stated is not None and said == derived:
        draft.remove(stated)
        draft.tail += stated.comments


def _whole_files(draft: Draft, originals: Originals, books: Iterable[Path]) -> None:
    everywhere = "slurm_conf_server" if ("slurm", "configless") in draft.items else "slurm_node"
    wanted: dict[str, str] = dict.fromkeys(WHOLE, everywhere) | dict.fromkeys(_ON_CONTROLLER, "slurm_controller")
    folder = originals.folder.path
    for name in list(wanted):
        if name == "plugstack.conf" and (folder / name).is_file():
            wanted |= {
                f"plugstack.conf.d/{item.name}": everywhere for item in sorted((folder / "plugstack.conf.d").glob("*"))
            }
    wanted |= dict.fromkeys(draft.whole, everywhere)
    wanted |= dict(_programs(originals, folder))
    for name, group in wanted.items():
        if (folder / name).is_file():
            _one(draft, folder, name, group)
    taken = {*CONFIGS, *wanted, originals.folder.main, *originals.folder.texts}
    read = {file.resolve() for file in books}
    others = (item for item in folder.iterdir() if item.name not in taken and item.resolve() not in read)
    left = sorted(item.name for item in others if item.is_file())
    if left:
        more = f" and {len(left) - _SHOWN} more" if len(left) > _SHOWN else ""
        draft.note("choice", f"not looked at, as no file of Slurm's by name: {', '.join(left[:_SHOWN])}{more}")


def _programs(originals: Originals, folder: Path) -> Iterator[tuple[str, str]]:
    """Programs of slurm.conf that lie in the folder → the group whose nodes run them."""
    for key, group in _SCRIPTS.items():
        for setting in originals.conf.settings(key):
            for text in setting.text.split(","):
                inside = next((text.removeprefix(start) for start in _PROLOGS if text.startswith(start)), "")
                if inside and ".." not in inside:
                    pattern = basename(inside)
                    place = folder / dirname(inside)
                    found = sorted(place.glob(pattern)) if "*" in pattern else [place / pattern]
                    yield from ((item.relative_to(folder).as_posix(), group) for item in found if item.is_file())


def _one(draft: Draft, folder: Path, name: str, group: str) -> None:
    place = folder / name
    if not place.resolve().is_relative_to(folder.resolve()):
        draft.note("left-out", f"{name} is a link to somewhere else", str(place), name)
        return
    content = place.read_bytes()
    text = readable(content.decode("utf-8", "surrogateescape"))
    if len(content) > _LARGEST:
        draft.note("left-out", f"{name} has more than {_LARGEST >> 20} MiB", str(place), name)
    elif any(True for _ in find_secrets(text, {"line": text})):
        draft.note("secret", f"{name} seems to hold a secret: put it on the nodes yourself", str(place), name)
    else:
        draft.files[f"site/{group}/etc/slurm/{name}"] = content
        if os.access(place, os.X_OK):
            draft.programs.add(f"site/{group}/etc/slurm/{name}")
