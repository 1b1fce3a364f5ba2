"""The other files beside slurm.conf: those whose keys the manifest takes, and those that go to `site/` as they are."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from posixpath import basename, dirname

from clustergen.catalogue import slurm
from clustergen.catalogue.system_paths import OF_PACKAGES
from clustergen.diagnostics import ManifestPath
from clustergen.diagnostics.secrets import is_secret, secret_in_file
from clustergen.diagnostics.words import listed
from clustergen.importer.comments import readable
from clustergen.importer.draft import Draft
from clustergen.importer.fabric import import_topology
from clustergen.importer.gres import import_gpus
from clustergen.importer.lines import PLACES, import_lines
from clustergen.importer.machines import Machines
from clustergen.importer.originals import CONFIGS, Originals
from clustergen.importer.sections import import_sections, replaced
from clustergen.importer.settings import option_value
from clustergen.regular_file import reason_of
from clustergen.slurmconf.directory import ConfigDirectory
from clustergen.slurmconf.reading import is_there

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
_MOST_SCRIPTS = 1000


def import_files(draft: Draft, originals: Originals, machines: Machines, account_files: Iterable[Path]) -> None:
    """Everything in the directory but slurm.conf and slurmdbd.conf."""
    for file, path in _OPTIONS.items():
        conf = originals.configs.get(file)
        for lower in conf.keys() if conf else ():
            assert conf is not None
            setting = conf.settings(lower)[-1]
            key = row.key if (row := slurm.key(file, setting.key)) else setting.key
            origin = originals.origin(setting)
            if is_secret(key, setting.text):
                words = f"{key} of {file} is a secret and is not in the manifest"
                draft.note("secret", words, origin.place, key)
                continue
            draft.set((*path, key), option_value(setting.text), [origin])
    import_topology(draft, originals, machines)
    if "gres.conf" not in originals.configs and draft.gpu_types:
        words = "There was no gres.conf; without this line clustergen renders one for the GPUs."
        draft.set(PLACES["gres.conf"], (), comments=[words])
    elif "gres.conf" in originals.configs and draft.gpu_types:
        import_gpus(draft, machines)
    elif "gres.conf" in originals.configs:
        import_lines(draft, originals, "gres.conf")
    _gres_types(draft)
    import_sections(draft, originals)
    _whole_files(draft, originals, account_files)


def _gres_types(draft: Draft) -> None:
    """GresTypes follows from the GPUs, unless the files say another."""
    path: ManifestPath = ("slurm", "options", "GresTypes")
    stated = draft.items.get(path)
    fields = {item.path[-1] for item in draft.below(("node_types",)) if item.path[2:3] == ("gpus",)}
    derived = {"gpu", *({"shards": "shard", "mps": "mps"}[str(field)] for field in fields & {"shards", "mps"})}
    words = {word.strip().lower() for word in str(stated.value).split(",")} if stated else set()
    if draft.gpu_types and stated is None:
        draft.set(path, "", comments=["slurm.conf has none, so Slurm has no GPUs."])
    elif draft.gpu_types and stated is not None and words == derived:
        draft.remove(stated)
        draft.tail += stated.comments


def _whole_files(draft: Draft, originals: Originals, account_files: Iterable[Path]) -> None:
    everywhere = "slurm_conf_server" if ("slurm", "configless") in draft.items else "slurm_node"
    files: dict[str, str] = dict.fromkeys(WHOLE, everywhere) | dict.fromkeys(_ON_CONTROLLER, "slurm_controller")
    directory = originals.directory.path
    for name in list(files):
        if name == "plugstack.conf" and is_there(directory / name):
            files |= {
                f"plugstack.conf.d/{item.name}": everywhere
                for item in sorted((directory / "plugstack.conf.d").glob("*"))
            }
    files |= dict.fromkeys(draft.whole, everywhere)
    files |= dict(_programs(originals, directory))
    _remaining_programs(draft, originals, directory)
    sections = set(replaced(draft))
    for name, group in files.items():
        if is_there(directory / name) and name not in sections:
            _one(draft, originals.directory, name, group)
    taken = {*CONFIGS, *files, originals.directory.main, *originals.directory.texts}
    read = {os.path.realpath(file) for file in account_files}
    others = (item for item in directory.iterdir() if item.name not in taken and os.path.realpath(item) not in read)
    left = sorted(item.name for item in others if is_there(item))
    if left:
        draft.note("choice", f"not read, because the names are not those of Slurm files: {listed(left, _SHOWN)}")


def _programs(originals: Originals, directory: Path) -> Iterator[tuple[str, str]]:
    """Programs of slurm.conf that lie in the directory → the group whose nodes run them."""
    for key, group in _SCRIPTS.items():
        for setting in originals.conf.settings(key):
            for text in setting.text.split(","):
                inside = next((text.removeprefix(start) for start in _PROLOGS if text.startswith(start)), "")
                if inside and ".." not in inside:
                    pattern = basename(inside)
                    place = directory / dirname(inside)
                    paths = sorted(islice(place.glob(pattern), _MOST_SCRIPTS)) if "*" in pattern else [place / pattern]
                    yield from ((item.relative_to(directory).as_posix(), group) for item in paths if is_there(item))


def _remaining_programs(draft: Draft, originals: Originals, directory: Path) -> None:
    """A note of the programs that slurm.conf names, that are not in the directory, and that no package installs."""
    missing: dict[str, str] = {}
    example = ""
    for key, group in _SCRIPTS.items():
        for text in (text for setting in originals.conf.settings(key) for text in setting.text.split(",")):
            inside = next((text.removeprefix(start) for start in _PROLOGS if text.startswith(start)), "")
            is_taken = inside and (any(directory.glob(inside)) if "*" in inside else is_there(directory / inside))
            if text.startswith("/") and not is_taken and dirname(text) not in OF_PACKAGES:
                missing.setdefault(text, key)
                example = example or f"site/{group}{text}"
    if missing:
        scripts = listed([f"{path} ({key})" for path, key in missing.items()], _SHOWN)
        words = f"scripts that stay yours: {scripts}; leave them on the nodes, or add them"
        draft.note("todo", f"{words} as {example}")


def _one(draft: Draft, directory: ConfigDirectory, name: str, group: str) -> None:
    place = directory.path / name
    try:
        content = directory.content(name, _LARGEST)
    except OSError as err:
        draft.note("left-out", f"{name}: {reason_of(err)}", str(place), name)
        return
    text = readable(content.decode("utf-8", "surrogateescape"))
    if secret_in_file(f"/etc/slurm/{name}", text.encode()):
        draft.note("secret", f"{name} seems to contain a secret: copy it to the nodes yourself", str(place), name)
    else:
        draft.files[f"site/{group}/etc/slurm/{name}"] = content
        if os.access(place, os.X_OK):
            draft.programs.add(f"site/{group}/etc/slurm/{name}")
