"""Who runs slurmctld and slurmdbd: machines with roles, and the lines of slurm.conf where these say it otherwise."""

from __future__ import annotations

import re
from collections.abc import Mapping

from clustergen.catalogue import slurm
from clustergen.diagnostics import ManifestPath
from clustergen.hostlist import is_node_name
from clustergen.hostlist.addresses import address_of
from clustergen.importer.draft import Draft, Origin
from clustergen.importer.forms import number, takes
from clustergen.importer.machines import Machine, Machines
from clustergen.importer.originals import Originals
from clustergen.lint.daemons import OLD_HOSTS
from clustergen.manifest.model import Manifest
from clustergen.slurmconf.config import Setting

_OPTIONS = ("slurm", "options")
_HOST = re.compile(r"([^()\s]+)(?:\(([^()\s]*)\))?")


def import_controllers(draft: Draft, originals: Originals, machines: Machines) -> None:
    """The role slurm-controller, and `slurm.lines` where names and addresses are not those of the machines."""
    declared = _controllers(originals)
    for host, address, origin in declared:
        if not is_node_name(host) or host.replace(".", "").isdigit():
            draft.note("left-out", f"'{host}' is not a valid host name", origin.place, "SlurmctldHost")
            continue
        _give(machines, host, "slurm-controller", address, origin)
    texts = [f"{host}({address})" if address and address != host else host for host, address, _ in declared]
    if texts and texts != _derived(machines):
        as_written(draft, originals)
    is_ignored = bool(originals.conf.settings("SlurmctldHost"))
    what = "omitted: Slurm ignores it because SlurmctldHost is set"
    what = what if is_ignored else "written as SlurmctldHost, which replaces it"
    for key in OLD_HOSTS:
        if (old := originals.conf.value(key)) is not None:
            for about in (key,) if is_ignored else (key, "SlurmctldHost"):
                draft.note("meant", f"{key}={old.text} is {what}", originals.origin(old).place, about)
    if len(declared) > 1:
        draft.set(
            ("slurm", "state_shared"),
            True,
            comments=["Two controllers share StateSaveLocation; define its file system under storage to mount it."],
        )


def as_written(draft: Draft, originals: Originals) -> bool:
    """The controllers as lines, in place of those that the roles make; False where they are there already."""
    lines = {path[2] for path in draft.items if path[:2] == ("slurm", "lines")}
    if any(path[:2] == ("slurm", "lines") and path[-1] == "SlurmctldHost" for path in draft.items):
        return False
    for index, (host, address, origin) in enumerate(_controllers(originals), len(lines)):
        text = f"{host}({address})" if address and address != host else host
        draft.set(("slurm", "lines", index, "SlurmctldHost"), text, [origin])
    return True


def _controllers(originals: Originals) -> list[tuple[str, str, Origin]]:
    """Name, address and place of each, the primary first; by the keys of older releases where there are no others."""
    conf = originals.conf
    controllers = []
    for setting in conf.settings("SlurmctldHost"):
        split = _HOST.fullmatch(setting.text)
        host, address = (split[1], split[2] or "") if split else (setting.text, "")
        controllers.append((host, address, originals.origin(setting)))
    if controllers:
        return controllers
    return _of_old_keys(originals)


def _of_old_keys(originals: Originals) -> list[tuple[str, str, Origin]]:
    conf = originals.conf
    controllers = []
    for key, beside in (("ControlMachine", "ControlAddr"), ("BackupController", "BackupAddr")):
        named, address = conf.value(key), conf.text(beside) or ""
        if named is not None and named.text:
            hosts = named.text.split(",")  # ControlMachine may name both
            controllers.append((hosts[0], address, originals.origin(named)))
    return controllers


def _give(machines: Machines, host: str, role: str, address: str, origin: Origin) -> Machine:
    """A role to a machine; one of its own where no NodeName line has it."""
    machine = machines.alone(host)
    if machine is None:
        machine = Machine([host], "service", [origin])
        machine_address = address if address_of(address) else machines.originals.hosts.get(host.lower(), "")
        machine.addresses = [machine_address] if machine_address else []
        machines.others.append(machine)
    if not machine.roles and machine.kind != "service":
        machine.roles.append("slurm-compute")
    if role not in machine.roles:
        machine.roles.insert(0 if role == "slurm-controller" else len(machine.roles), role)
    return machine


def _derived(machines: Machines) -> list[str]:
    """The lines that the roles make."""
    derived = []
    for machine in machines.all():
        if "slurm-controller" in machine.roles:
            addresses = machine.addresses or [""] * len(machine.hosts)
            pairs = zip(machine.hosts, addresses, strict=True)
            derived += [f"{host}({address})" if address else host for host, address in pairs]
    return derived


def import_accounting(draft: Draft, originals: Originals, machines: Machines) -> None:
    """slurmdbd: a role where its file is there to be taken over; else it stays what slurm.conf says of it."""
    conf = originals.conf
    dbd = originals.configs.get("slurmdbd.conf")
    settings: dict[str, Setting | None] = {
        key: conf.value(key)
        for key in ("AccountingStorageType", "AccountingStorageHost", "AccountingStorageBackupHost")
    }
    derived: dict[str, str] = {}
    if dbd is not None:
        hosts = []
        for key in ("DbdHost", "DbdBackupHost"):
            setting = dbd.value(key)
            if setting is not None and setting.text:
                hosts.append((key, _dbd_host(setting, settings, originals), originals.origin(setting)))
        for key, host, origin in hosts:
            machine = _give(machines, host, "slurm-accounting", "", origin)
            text = origin.text
            if text != host or machine is None:
                draft.set(("slurm", "accounting", "options", key), text, [origin])
        if hosts:
            derived["AccountingStorageType"] = "accounting_storage/slurmdbd"
            order = [host for machine in machines.all() for host in machine.hosts if _runs_slurmdbd(machine)]
            derived["AccountingStorageHost"] = order[0]
            if len(order) > 1:
                derived["AccountingStorageBackupHost"] = order[1]
            if order != [host for _, host, _ in hosts]:
                for (key, host, origin), _ in zip(hosts, order, strict=False):
                    draft.set(("slurm", "accounting", "options", key), host, [origin])
    typed = derived or _other_slurmdbd(draft, originals, settings)
    defaults = {"AccountingStorageType": "accounting_storage/none", "AccountingStorageHost": "localhost"}
    for key, setting_of_key in () if typed is True else settings.items():
        if setting_of_key is not None and setting_of_key.text != derived.get(key):
            draft.set((*_OPTIONS, key), setting_of_key.text, [originals.origin(setting_of_key)])
        elif setting_of_key is None and key in derived:
            draft.set(
                (*_OPTIONS, key),
                defaults.get(key, ""),
                comments=["Slurm's default, as slurm.conf does not set it."],
            )
    _ports(draft, originals)


def _other_slurmdbd(draft: Draft, originals: Originals, settings: Mapping[str, Setting | None]) -> bool:
    """The slurmdbd of another cluster, where slurm.conf alone names it."""
    kind, host, backup = settings.values()
    is_slurmdbd = kind is not None and kind.text.lower().rpartition("/")[2] == "slurmdbd"
    path = "slurm.accounting.slurmdbd"
    if kind is None or host is None or backup is not None or not is_slurmdbd or not takes(Manifest, path, host.text):
        return False
    lines = {"AccountingStorageType": kind, "AccountingStorageHost": host}
    options = [((*_OPTIONS, key), setting.text) for key, setting in lines.items()]
    draft.set(tuple(path.split(".")), host.text, map(originals.origin, lines.values()), passthrough=options)
    return True


def _runs_slurmdbd(machine: Machine) -> bool:
    return "slurm-accounting" in machine.roles


def _dbd_host(setting: Setting, settings: dict[str, Setting | None], originals: Originals) -> str:
    """The machine that a slurmdbd.conf means by its own name for itself."""
    text = setting.text
    if text.lower() not in ("localhost", "127.0.0.1") and is_node_name(text) and not address_of(text):
        return text
    stated = settings["AccountingStorageHost"]
    usable = stated is not None and stated.text.lower() != "localhost" and is_node_name(stated.text)
    if stated is not None and usable and not address_of(stated.text):
        return stated.text
    controllers = _controllers(originals)
    host = controllers[0][0] if controllers else "slurmdbd"
    return host if is_node_name(host) else "slurmdbd"


def _ports(draft: Draft, originals: Originals) -> None:
    """One field for both files, where both say the same."""
    dbd = originals.configs.get("slurmdbd.conf")
    slurm_port = originals.conf.value("AccountingStoragePort")
    dbd_port = dbd.value("DbdPort") if dbd else None
    default = slurm.default("slurm.conf", "", "AccountingStoragePort", originals.release) or ""
    texts = {setting.text if setting else default for setting in (slurm_port, *([dbd_port] if dbd else []))}
    port = number(next(iter(texts))) if len(texts) == 1 else None
    options: list[tuple[ManifestPath, str]] = []
    if slurm_port is not None:
        options.append(((*_OPTIONS, "AccountingStoragePort"), slurm_port.text))
    if dbd_port is not None:
        options.append((("slurm", "accounting", "options", "DbdPort"), dbd_port.text))
    origins = [originals.origin(setting) for setting in (slurm_port, dbd_port) if setting is not None]
    if not origins:
        return
    if port is not None and takes(Manifest, "slurm.ports.slurmdbd", port):
        draft.set(("slurm", "ports", "slurmdbd"), port, origins, passthrough=options)
    else:
        for (path, text), origin in zip(options, origins, strict=True):
            draft.set(path, text, [origin])
