"""Mounts whose files change: those that stay as they are, and those of file systems that move to another server, which
nodes cannot do one by one: jobs would write to both.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from clustergen.diff.comments import same_but_for_comments
from clustergen.hostlist import compress
from clustergen.render.effects import DAEMON_RELOAD, NONE, Effect

_TYPES = ("nfs", "nfs4", "lustre", "ceph", "wekafs", "none")  # none: a bind mount on the server itself
_KEYS = re.compile(r"^(What|Type|Options|ConditionHost) *= *(.*)", re.MULTILINE)
_HOSTS = "ConditionHost"  # servers that can have a target of Lustre
SERVERS = "servers"
"""Key of a change of servers, as their clients see it."""
ADDRESS, RENAMED = "address", "source and mount point"
"""Keys of a source whose servers stay, and of one with another mount unit; of others it is `source`."""
_SERVED = re.compile("/etc/exports.d/clustergen-.*|/etc/systemd/system/srv-lustre-.*[.]mount")
_OF_SYSTEMD = re.compile("_netdev|(no)?(fail|auto)|x-.*")  # options that no file system is mounted with
_NAMED = re.compile(r"(?:^|,)(?:fs|mds_namespace)=([^,]+)")  # of CephFS, whose monitors serve several file systems
_BEEGFS = re.compile(r"^sysMgmtdHost\s*=\s*(\S+)", re.MULTILINE)


def effect_inside(target: str, effect: Effect, old: str, new: str) -> Effect:
    """The effect of a changed file of a node by the difference of its texts; `effect`: that of the tree."""
    if same_but_for_comments(old, new):
        return NONE
    if effect.kind not in ("remount", "window"):
        return effect
    if target.endswith(".mount") and _stays(_mounted(old), _mounted(new)):
        return DAEMON_RELOAD
    return Effect("window", effect.unit) if moved(target, old, new) else effect


def lustre_target(text: str) -> str:
    """`scratch-OST0001 on oss2`, by the mount unit of a target."""
    name = re.search(r"^Description=Lustre target (\S+)", text, re.MULTILINE)
    hosts = _mounted(text).get(_HOSTS, set())
    return f"{name[1] if name else 'a target'} on {compress(sorted(host.removeprefix('|') for host in hosts))}"


def on_servers(target: str, effect: Effect, *, is_there: bool) -> Effect:
    """The effect on the servers themselves of a file that takes a file system from its clients. `is_there`: before and
    after; the unit of another server mounts a target that moves, while people format those that are new.
    """
    if not target.endswith(".mount"):
        return Effect("restart", effect.unit)
    return Effect("run", f"clustergen-lustre-targets-{effect.unit}.service") if is_there else DAEMON_RELOAD


def is_served(target: str) -> bool:
    """True if servers offer a file system by the file: it goes when all clients have unmounted."""
    return _SERVED.fullmatch(target) is not None


def moved(target: str, old: str, new: str) -> tuple[str, str] | None:
    """The old and the new source by a file of a node, `What` of a mount unit or the management server of BeeGFS; None
    where both are of one place. Of several addresses or monitors one that stays is enough.
    """
    before, after = _source(target, old), _source(target, new)
    if before is None or after is None or _places(*before) & _places(*after):
        return None
    return before[0], after[0]


def same_servers(old: str, new: str, names: Sequence[Mapping[str, str]]) -> bool | None:
    """True if two sources differ in addresses of the same servers alone; None where that is not known.
    `names`: of each side, address or name → host.
    """
    sides = [_places(source, "") for source in (old, new)]
    servers = [{side.get(_host(server)) for server, *_ in places} for side, places in zip(names, sides, strict=True)]
    directories = [{directory for _, directory, _ in places} for places in sides]
    if directories[0] != directories[1]:
        return False
    return None if None in servers[0] | servers[1] else servers[0] == servers[1]


def names_of(hosts_file: str, hosts: Collection[str]) -> dict[str, str]:
    """Address or name → host, by /etc/hosts; names on other networks end in a suffix: `oss1-ib0`."""
    names: dict[str, str] = {}
    for line in hosts_file.splitlines():
        address, *aliases = line.partition("#")[0].split() or [""]
        parts = [alias.split("-") for alias in aliases]
        stems = ("-".join(words[:count]) for words in parts for count in range(len(words), 0, -1))
        if host := next((stem for stem in stems if stem in hosts), None):
            names.update(dict.fromkeys((address, *aliases), host))
    return names


def renamed(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Mount units that go and those that come in their place, of file systems that move to another server and another
    mount point at once. `old`, `new`: path → text of those that go, and of those that come.
    """
    places = {_name_of(text): target for target, text in new.items()}
    for target, text in old.items():
        other = places.get(_name_of(text))
        if other and moved(target, text, new[other]):
            yield target, other


def _name_of(text: str) -> str:
    name = re.search(r"^Description=(File system .+)", text, re.MULTILINE)
    return name[1] if name else ""


def _host(server: str) -> str:
    """The address without brackets and LNet's network."""
    return server.partition("@")[0].strip("[]")


def _mounted(text: str) -> dict[str, set[str]]:
    """The keys of a mount unit that mount(8) gets, and the hosts that may mount it."""
    values: dict[str, set[str]] = {}
    for key, value in _KEYS.findall(text):
        words = value.split(",") if key == "Options" else [value]
        values.setdefault(key, set()).update(word for word in words if not _OF_SYSTEMD.fullmatch(word))
    return values


def _stays(before: dict[str, set[str]], after: dict[str, set[str]]) -> bool:
    """True if the same is mounted, by each host that may have mounted it."""
    return before.pop(_HOSTS, set()) <= after.pop(_HOSTS, set()) and before == after


def _source(target: str, text: str) -> tuple[str, str] | None:
    """The source and the name of the file system there; None where the file says nothing of a source."""
    if target.endswith(".mount"):
        values = dict(_KEYS.findall(text))
        name = _NAMED.search(values.get("Options", ""))
        return (values["What"], name[1] if name else "") if values.get("Type") in _TYPES else None
    host = _BEEGFS.search(text) if target.startswith("/etc/beegfs/") else None
    return (host[1], "") if host else None


def _places(source: str, name: str) -> set[tuple[str, str, str]]:
    """Each server with the directory and the name, of `10.1.0.1@o2ib,10.0.0.1@tcp:/fs`, `mon1,mon2:/`, `weka1/data`."""
    servers, _, directory = source.partition(":/" if ":/" in source else "/")
    return {(server, directory, name) for server in re.split("[:,]" if "@" in servers else ",", servers)}
