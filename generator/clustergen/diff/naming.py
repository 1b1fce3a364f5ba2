"""Which values of the manifest are called as a change on the nodes is: by field, partition, node, type, entry."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain

from clustergen.catalogue import sacctmgr
from clustergen.diagnostics.model_path import value_at
from clustergen.diff.change import Change
from clustergen.diff.manifest_changes import ManifestChange
from clustergen.diff.policy import VALUES
from clustergen.diff.snapshot import Snapshot
from clustergen.slurmconf.scalars import hosts_of
from clustergen.slurmrules.fields import field_of

_BLOCKS = {"node": "NodeName", "gres": "NodeName", "partition": "PartitionName"}
_POLICY = {"qos": "qos", "account": "accounts", "user": "accounts"}
"""Kind of a change of sacctmgr's settings → the section of `slurm` with its entries."""
_MEMBERSHIP = ("name", "type", "roles")
"""Fields of an entry of `nodes` that make its nodes come, go, or be others."""
_FOLLOWS = {"DefaultTime": "max_time"}
"""Key of a partition → the field that its default follows."""


class Names:
    """Changed values by what they are about, so that each change is held against few of them."""

    def __init__(self, edits: Sequence[ManifestChange], new: Snapshot, old: Snapshot) -> None:
        self._values = edits
        self._new, self._old = new, old
        # All that follows: → the places in `edits`.
        self._of_host: dict[str, list[int]] = {}
        self._of_type: dict[str, list[int]] = {}
        self._of_partition: dict[str, list[int]] = {}
        self._of_policy: dict[tuple[str, str], list[int]] = {}
        self._of_section: dict[str, list[int]] = {}
        for index, value in enumerate(edits):
            section = str(value.path[0])
            if section == "nodes":
                for host in self._hosts(value):
                    self._of_host.setdefault(host, []).append(index)
            elif section == "node_types" and len(value.path) > 1:
                group = "type_" + re.sub(r"\W", "_", str(value.path[1]))
                self._of_type.setdefault(group, []).append(index)
            elif value.path[:2] == ("slurm", "partitions") and len(value.path) > 2:
                self._of_partition.setdefault(str(value.path[2]), []).append(index)
            else:
                if section == "slurm" and len(value.path) > 2:
                    self._of_policy.setdefault((str(value.path[1]), str(value.path[2])), []).append(index)
                self._of_section.setdefault(section, []).append(index)
        self._types: dict[str, list[str]] = {}
        for group in self._of_type:
            for host in {*new.inventory.groups.get(group, ()), *old.inventory.groups.get(group, ())}:
                self._types.setdefault(host, []).append(group)

    def behind(self, change: Change) -> tuple[ManifestChange, ...]:
        """The values that names alone tell to stand behind the change, in the manifest's order."""
        return tuple(self._values[index] for index in sorted(set(self._indexes(change))))

    def _indexes(self, change: Change) -> Iterator[int]:
        if change.kind == "key":
            sections = (values for section, values in self._of_section.items() if section != "storage")
            yield from self._matching(chain.from_iterable(sections), change, _of_the_key)
            yield from self._of_named_hosts(change)
        elif change.kind == "system":
            yield from (index for index, value in enumerate(self._values) if value.path[-1] in ("os", "type"))
        elif change.is_beside_slurm:
            yield from self._matching(self._of_section.get("storage", ()), change, _of_the_storage)
            if change.kind == "setting":
                sections = (values for section, values in self._of_section.items() if section != "storage")
                yield from self._matching(chain.from_iterable(sections), change, _of_the_setting)
        elif change.file == VALUES:
            user, _, account = change.name.rpartition(" in ")
            section = _POLICY[change.kind] if account or change.kind != "user" else "users"
            of_entry = self._of_policy.get((section, account if user else change.name), ())
            yield from self._matching(of_entry, change, _of_the_policy)
            return
        elif change.kind in ("switch", "block"):
            yield from self._matching(self._of_section.get("networks", ()), change, _of_the_switch)
        elif change.kind == "partition":
            of_partition = list(self._matching(self._of_partition.get(change.name, ()), change, _of_the_partition))
            yield from of_partition
            if of_partition and change.key not in ("", "Nodes"):
                return  # its own limit, whoever its nodes are
        if (
            change.nodes is not None
            and change.kind != "key"
            and not change.is_beside_slurm
            and (self._of_host or self._types)
        ):
            hosts = hosts_of(change.nodes)
            entries = {index for host in hosts for index in self._of_host.get(host, ())}
            yield from self._matching(entries, change, _of_the_node)
            if change.kind in ("node", "gres"):
                for group in {group for host in hosts for group in self._types.get(host, ())}:
                    yield from self._matching(self._of_type[group], change, _of_the_type)

    def _of_named_hosts(self, change: Change) -> Iterator[int]:
        """Entries of hosts that the value names, where these come, go or move: SlurmctldHost, DbdHost."""
        words = {word for side in (change.old, change.new) for word in re.findall(r"[\w.-]+", side or "")}
        for word in words & self._of_host.keys():
            for index in self._of_host[word]:
                path = self._values[index].path
                if len(path) < 3 or path[2] in ("name", "address"):
                    yield index

    def _matching(
        self, indexes: Iterable[int], change: Change, fits: Callable[[Change, ManifestChange], bool]
    ) -> Iterator[int]:
        return (index for index in indexes if fits(change, self._values[index]))

    def _hosts(self, value: ManifestChange) -> set[str]:
        """The nodes of the entry; where it or its name is what changed, those of one side only."""
        sides: list[set[str]] = []
        paths = ((self._new.source, value.path if value.new is not None else None), (self._old.source, value.old_path))
        for source, path in paths:
            entry = value_at(source.data, path[:2]) if source is not None and path is not None else None
            sides.append(set(hosts_of(str(entry.get("name", "")))) if isinstance(entry, dict) else set())
        return sides[0] ^ sides[1] if len(value.path) == 2 or value.path[2] == "name" else sides[0] | sides[1]


def _word(name: str, text: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


def _field(change: Change) -> str | None:
    return field_of(change.file.rpartition("/")[2], _BLOCKS.get(change.kind, ""), change.key)


def _of_the_key(change: Change, value: ManifestChange) -> bool:
    """By the field that says the key, or the key itself in a section of options."""
    if change.key and str(value.path[-1]).lower() == change.key.lower():
        return True
    field = _field(change)
    return field is not None and (value.label == field or value.label.startswith((f"{field}.", f"{field}[")))


def _of_the_partition(change: Change, value: ManifestChange) -> bool:
    if len(value.path) == 3 or not change.key:
        return True
    field = (_field(change) or "").split(" and ")[0]
    return str(value.path[-1]).lower() in (change.key.lower(), field, _FOLLOWS.get(change.key))


def _of_the_storage(change: Change, value: ManifestChange) -> bool:
    return len(value.path) > 1 and _word(str(value.path[1]), change.file)


def _of_the_setting(change: Change, value: ManifestChange) -> bool:
    """By the setting's own name, as under `nccl.env`."""
    return str(value.path[-1]).lower() == change.key.rpartition(".")[2].lower()


def _of_the_policy(change: Change, value: ManifestChange) -> bool:
    """By the field that says sacctmgr's option; a user as a whole by the account's users."""
    if len(value.path) == 3:
        return True
    fields = [str(part) for part in value.path[3:]]
    user, _, account = change.name.rpartition(" in ")
    if account and change.kind == "user":
        if not change.key:
            return fields[0] == "users" or fields[:2] == ["user_limits", user]
        if fields[:2] != ["user_limits", user]:
            return False
        fields = fields[2:]
    elif fields[0] == "user_limits":
        return False
    if not change.key or not fields:
        return True
    row = sacctmgr.option("qos" if change.kind == "qos" else "association", change.key)
    if row is not None and row.field:
        return fields[0] == row.field
    return change.key.lower() in (fields[-1].lower(), fields[0].replace("_", ""))


def _of_the_switch(change: Change, value: ManifestChange) -> bool:
    return f"[{change.name}]" in value.label


def _of_the_node(change: Change, value: ManifestChange) -> bool:
    """By the field that says the key: `address of the nodes`, `weight`; or the key itself in the options."""
    if len(value.path) < 3 or value.path[2] in _MEMBERSHIP:
        return True
    word = str(value.path[-1]).lower()
    return word == change.key.lower() or (_field(change) or "").split(" ")[0] == str(value.path[2])


def _of_the_type(change: Change, value: ManifestChange) -> bool:
    """A field of the type that the nodes are of; where whole nodes or devices come or go, any of its fields."""
    field = _field(change) if change.key else None
    section = (field or ("gpus" if change.kind == "gres" else "")).split(".")[0]
    if change.key and len(value.path) > 2 and value.path[2] not in (section, "system"):
        return str(value.path[-1]).lower() == change.key.lower()
    return True
