"""Surroundings that a directory of Slurm's files expects of the machine: accounts, directories, keys, devices,
addresses.

The daemons find all of it in the sandbox, so that the files can be read as they are. This is no parser: what is wrong
in the files is for the daemons to say, and a key that is missed here shows up as a complaint of theirs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from clustergen.catalogue.network import ports
from clustergen.hostlist import HostlistError, expand
from clustergen.hostlist.addresses import address_of, addresses_in, is_loopback
from clustergen.records import record
from clustergen.slurmconf.scalars import files_of

_SETTING = re.compile(r"(\w+)\s*=\s*(\"[^\"]*\"|\S+)")
_COMMENT = re.compile(r"(?<!\\)#")
_JWT_KEY = re.compile(r"jwt_key=([^,]+)", re.IGNORECASE)
_INCLUDE = re.compile(r"(?mi)^\s*include\s+(/\S+)")
_SPANK = re.compile(r"(?m)^\s*(?:required|optional)\s+(/\S+)")
_LOG_KEYS = ("slurmctldlogfile", "slurmdlogfile", "slurmschedlogfile", "slurmctldpidfile", "slurmdpidfile")
_DATABASE_KEYS = ("storagehost", "storagebackuphost")
_DBD_KEYS = ("accountingstoragehost", "accountingstoragebackuphost")
_MOST_HOSTS = 65_536  # as many nodes as Slurm takes


@record
class Settings:
    """Key-value pairs of some files in the order written; keys in lower case."""

    pairs: tuple[tuple[str, str], ...]

    @classmethod
    def read(cls, files: Iterable[Path]) -> Settings:
        pairs: list[tuple[str, str]] = []
        for file in files:
            for line in _text(file).replace("\\\n", " ").splitlines():
                code = _COMMENT.split(line, maxsplit=1)[0]
                pairs.extend((key.lower(), value.strip('"')) for key, value in _SETTING.findall(code))
        return cls(tuple(pairs))

    def all(self, *keys: str) -> list[str]:
        return [value for key, value in self.pairs if key in keys]

    def get(self, *keys: str, default: str = "") -> str:
        return next(iter(self.all(*keys)), default)


@record
class Surroundings:
    """Surroundings of the sandbox for one directory; `lines` are orders to read_slurm.sh such as "directory PATH
    OWNER".
    """

    controller: str
    accounting: bool
    dbd_host: str
    dbd_user: str
    dbd_port: str
    database: str
    database_port: str
    lines: tuple[str, ...]
    qos: tuple[str, ...]
    devices: tuple[str, ...]
    autodetect: bool
    spank: tuple[str, ...]
    names: tuple[str, ...]
    own_names: tuple[str, ...]
    conf_server: str  # of a configless cluster: it hands out the files
    services: tuple[str, ...]  # of a database or another cluster's slurmdbd, maybe in no hosts file

    @property
    def environment(self) -> dict[str, str]:
        """Variables of database.sh."""
        names = {"DBD_HOST": self.dbd_host, "DBD_USER": self.dbd_user}
        return {**names, "DATABASE": self.database, "DB_PORT": self.database_port}


def of_directory(directory: Path, nodes: Sequence[str] = ()) -> Surroundings:
    """`directory` is what will be /etc/slurm, `nodes` will run a slurmd. Raises OSError where a file cannot be read."""
    texts = sorted(file for file in directory.rglob("*.conf") if file.is_file())
    slurm = Settings.read(file for file in texts if file.name not in ("slurmdbd.conf", "gres.conf"))
    dbd_text = _text(file) if (file := directory / "slurmdbd.conf").is_file() else None
    dbd = Settings.read([file] if dbd_text is not None else [])
    gres = Settings.read(file for file in texts if file.name == "gres.conf")
    controller = slurm.get("slurmctldhost", "controlmachine", default="localhost").split(",")[0]
    name, _, address = controller.partition("(")
    dbd_host = dbd.get("dbdhost", default=slurm.get("accountingstoragehost", default="localhost"))
    names = [name, address.rstrip(")"), slurm.get("controladdr"), slurm.get("accountingstoragehost")]
    names += [dbd_host, dbd.get("dbdaddr"), dbd.get("storagehost")]
    files = (islice(files_of(value), _MOST_HOSTS) for value in gres.all("file", "multiplefiles"))
    return Surroundings(
        controller=name,
        accounting=slurm.get("accountingstoragetype").lower().endswith("slurmdbd"),
        dbd_host=dbd_host,
        dbd_user=dbd.get("slurmuser", default=slurm.get("slurmuser", default="root")),
        dbd_port=slurm.get("accountingstorageport", default=str(ports()["slurmdbd"].port)),
        database=dbd.get("storageloc", default="slurm_acct_db"),
        database_port=dbd.get("storageport", default=str(ports()["mariadb"].port)),
        lines=tuple(dict.fromkeys(_orders(slurm, dbd, dbd_text, nodes))),
        qos=tuple(_named_qos(slurm)),
        devices=tuple(sorted({path for paths in files for path in paths if path.startswith("/")})),
        autodetect=any(value.lower() != "off" for value in gres.all("autodetect")),
        spank=tuple(path for file in texts if "plugstack" in str(file) for path in _SPANK.findall(_text(file))),
        names=tuple(dict.fromkeys(_names(slurm, [*names, *slurm.all("slurmctldhost")]))),
        own_names=tuple(dict.fromkeys(filter(None, names))),
        conf_server=_conf_server(slurm, name),
        services=tuple(dbd.all(*_DATABASE_KEYS) if dbd_text is not None else slurm.all(*_DBD_KEYS)),
    )


def _conf_server(slurm: Settings, controller: str) -> str:
    if "enable_configless" not in slurm.get("slurmctldparameters").lower().split(","):
        return ""
    port = slurm.get("slurmctldport", default=str(ports()["slurmctld"].port))
    return f"{controller}:{port.partition('-')[0]}"


def invented_hosts(names: Iterable[str]) -> str:
    """A hosts file that gives every name an address out of 198.18.0.0/15, the block for test networks."""
    pool = (f"198.{18 + n // 65536}.{n // 256 % 256}.{n % 256}" for n in range(1, 2 * 65536))
    return "".join(
        f"{address} {name}\n" for address, name in zip(pool, names, strict=False) if address_of(name) is None
    )


def own_addresses(names: Iterable[str], hosts: str) -> tuple[str, ...]:
    """The addresses that a hosts file gives to these names, loopback left out; an address stands for itself."""
    table = addresses_in(hosts)
    addresses = dict.fromkeys(name if address_of(name) else table.get(name, "") for name in names)
    return tuple(text for text in addresses if (number := address_of(text)) and not is_loopback(number))


def stand_in_hosts(services: Iterable[str], hosts: str) -> str:
    """Lines for the names that a hosts file lacks: the database and slurmdbd of the sandbox answer for them."""
    table = addresses_in(hosts)
    return "".join(f"127.0.0.1 {name}\n" for name in services if name not in table and address_of(name) is None)


def _text(file: Path) -> str:
    return file.read_text(encoding="utf-8", errors="replace")


def _orders(slurm: Settings, dbd: Settings, dbd_text: str | None, nodes: Sequence[str]) -> Iterator[str]:
    users = [user.partition("(")[0] for user in (*slurm.all("slurmuser"), *dbd.all("slurmuser"))]
    for number, user in enumerate(dict.fromkeys(users)):
        yield f"account {user} {64100 + number}"
    owner = users[0] if users else "root"
    for daemon in ("slurmctld", "slurmdbd"):
        yield f"directory /run/{daemon} {owner}"  # the RuntimeDirectory of its unit; auth/slurm keeps a socket there
    for path in slurm.all("statesavelocation"):
        yield f"state {path} {owner}"
    for path in slurm.all("slurmdspooldir") or ("/var/spool/slurmd",):  # Slurm's default
        yield from (f"directory {re.sub('%[nh]', node, path)} root" for node in nodes)
    for key_file in (*slurm.all(*_LOG_KEYS), *dbd.all("logfile", "pidfile")):
        if key_file.startswith("/") and Path(key_file).parent != Path("/run"):
            yield f"directory {Path(key_file).parent} {owner}"
    for path in dbd.all("archivedir"):
        yield f"directory {path} {owner}"
    yield from _programs(slurm)
    yield f"directory {slurm.get('tmpfs', default='/tmp')} root"
    for parameters in (*slurm.all("authaltparameters", "authinfo"), *dbd.all("authaltparameters", "authinfo")):
        for path in _JWT_KEY.findall(parameters):
            yield f"secret {path} {owner}"
    if "auth/slurm" in slurm.all("authtype"):
        yield f"secret /etc/slurm/slurm.key {owner}"
    if dbd_text is not None:
        for path in ("/etc/slurm/slurmdbd.conf", *_INCLUDE.findall(dbd_text)):
            yield f"private {path} {users[-1] if users else 'root'}"
    for path in ":".join(slurm.all("plugindir")).split(":"):
        if path:
            yield f"plugins {path}"


def _programs(slurm: Settings) -> Iterator[str]:
    yield f"program {slurm.get('mailprog', default='/bin/mail')}"
    for path in slurm.all("healthcheckprogram"):
        yield f"hollow {path}"  # it looks for the node's hardware and services


def _named_qos(slurm: Settings) -> list[str]:
    """QOS that partitions name; a site makes them with sacctmgr before slurmctld starts."""
    named = ",".join(slurm.all("qos", "allowqos", "denyqos")).split(",")
    return sorted({name for name in named if name and name.lower() not in ("all", "n/a", "normal")})


def _names(slurm: Settings, more: Iterable[str]) -> Iterator[str]:
    for value in more:
        name, _, address = value.partition("(")
        yield from filter(None, (name, address.rstrip(")")))
    for value in slurm.all("nodename", "nodeaddr", "nodehostname"):
        if value.upper() != "DEFAULT":
            yield from _expanded(value)


def _expanded(value: str) -> list[str]:
    """A host list's names; text that is no host list stands for itself, Slurm will have its own words about it."""
    try:
        return list(islice(expand(value), _MOST_HOSTS))
    except HostlistError:
        return [value]
