"""Input of Ansible: the inventory with its variables, its settings, and the playbook.

A host has one line; groups name node types where they hold all nodes of them, and ranges of hosts otherwise, so that
one more node changes its own line and one range.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from clustergen.catalogue.operating_systems import OperatingSystem, tables_of
from clustergen.catalogue.tables import names_of
from clustergen.cluster.ansible import Ansible, Ssh
from clustergen.cluster.contributions import Secret, Value, VariableRows, Variables
from clustergen.cluster.extensions import used_extensions
from clustergen.cluster.groups import clients_of, group_name, mount_group
from clustergen.cluster.model import Cluster, NodeGroup
from clustergen.cluster.roles import SERVICE
from clustergen.cluster.slurm.model import Slurm
from clustergen.feature import extensions
from clustergen.hostlist import ansible_ranges
from clustergen.records import fields, record
from clustergen.render.file import Context, File, always
from clustergen.render.tree import Outline
from clustergen.render.views.packages import Provision, disks, exports, packages_by_group, paths_by_group, provision
from clustergen.render.views.units import units_by_group


@record
class Group:
    """A group: whole groups in it, and patterns of hosts."""

    name: str
    children: tuple[str, ...]
    hosts: tuple[str, ...]


@record
class GroupVariables:
    """group_vars/all.yml, in sections; then lists of units, purposes of packages, and paths by group."""

    sections: tuple[tuple[str, tuple[tuple[str, Value], ...]], ...]
    file_systems: tuple[dict[str, Value], ...]
    secrets: tuple[dict[str, Value], ...]
    units: tuple[tuple[str, tuple[str, ...]], ...]
    packages: tuple[tuple[str, tuple[str, ...]], ...]
    paths: tuple[tuple[str, tuple[str, ...]], ...]
    exports: tuple[dict[str, str], ...]
    disks: tuple[dict[str, str], ...]
    tables: tuple[VariableRows, ...]


@record
class System:
    """group_vars of an operating system."""

    facts: tuple[tuple[str, str], ...]
    packages: tuple[tuple[str, list[str]], ...]
    repositories: tuple[tuple[str, str], ...]


def os_group(os: OperatingSystem) -> str:
    return "os_" + group_name(os.key)


def inventory(cluster: Cluster, outline: Outline) -> Context:
    """hosts.ini: a line per host, then the groups."""
    lines = tuple(line for group in cluster.groups for line in _host_lines(group))
    groups = list(_groups(cluster, outline))
    systems: dict[str, list[str]] = {}
    for node_type in cluster.node_types:
        systems.setdefault(os_group(node_type.os), []).append(node_type.group)
    groups += [Group(name, tuple(types), ()) for name, types in systems.items()]
    return {"hosts": lines, "groups": tuple(groups)}


def _host_lines(group: NodeGroup) -> Iterator[str]:
    width = max(map(len, group.hosts))
    columns: dict[str, tuple[str, ...]] = {
        "ansible_host": group.addresses,
        "bmc_address": group.bmc,
        "boot_mac": group.macs,
        "storage_address": group.storage,
        "fabric_addresses": tuple(map(",".join, zip(*group.fabric, strict=False))),  # by rail
    }
    filled = [(name, values) for name, values in columns.items() if values]
    for index, host in enumerate(group.hosts):
        words = [f"{name}={values[index]}" for name, values in filled]
        yield " ".join([host.ljust(width), *words]).rstrip()


def _groups(cluster: Cluster, outline: Outline) -> Iterator[Group]:
    """By the members of each: there is a group per node type, so all types for each would be a square."""
    order = {kind.name: index for index, kind in enumerate(cluster.node_types)}
    for name, members in outline.groups.items():
        if name == "all":
            continue
        inside: dict[str, list[NodeGroup]] = {}
        for member in sorted(members, key=lambda each: order[each.type.name]):
            inside.setdefault(member.type.name, []).append(member)
        children, hosts = [], []
        for type_name, parts in inside.items():
            group = parts[0].type.group
            if len(parts) == len(cluster.of_type[type_name]) and type_name != SERVICE and name != group:
                children.append(group)
            else:
                hosts += [pattern for member in parts for pattern in ansible_ranges(member.hosts)]
        yield Group(name, tuple(children), tuple(hosts))


def variables(cluster: Cluster, outline: Outline) -> GroupVariables:
    ssh, ansible = cluster.of(Ssh), cluster.of(Ansible)
    sections: dict[str, dict[str, Value]] = {
        "How to reach the nodes": {
            "ansible_user": ssh.user,
            "ansible_port": ssh.port,
            "ansible_become": ansible.become,
            "ansible_ssh_common_args": f"-o ProxyJump={ssh.jump}" if ssh.jump else None,
            "ansible_python_interpreter": ansible.python,
        },
        "The cluster": {"cluster_name": cluster.name},
    }
    for contribution in cluster.needs(Variables):
        sections.setdefault(contribution.title, {}).update(contribution.values)
    site_variables: dict[str, Value] = dict(ansible.variables)
    for section in sections.values():
        for name in section.keys() & site_variables.keys():
            section[name] = site_variables.pop(name)
    sections["The site's own"] = site_variables
    shown = {
        title: tuple((name, value) for name, value in section.items() if value is not None)
        for title, section in sections.items()
    }
    return GroupVariables(
        sections=tuple((title, section) for title, section in shown.items() if section),
        file_systems=tuple(_file_systems(cluster)),
        secrets=tuple(_secret(secret) for secret in cluster.needs(Secret)),
        units=tuple(units_by_group(cluster, outline).items()),
        packages=tuple(packages_by_group(cluster, outline).items()),
        paths=tuple(paths_by_group(cluster, outline).items()),
        exports=tuple(exports(cluster)),
        disks=tuple(disks(cluster)),
        tables=tuple(table for table in cluster.needs(VariableRows) if table.rows),
    )


def _secret(secret: Secret) -> dict[str, Value]:
    row: dict[str, Value] = {name: getattr(secret, name) for name in fields(secret)}
    left_out = ("form", "effect") if secret.effect == "none" else ()
    return {name: value for name, value in {**row, "groups": list(secret.groups)}.items() if name not in left_out}


def _file_systems(cluster: Cluster) -> Iterator[dict[str, Value]]:
    for name, entry in cluster.storage.items():
        group = mount_group(name)
        if clients_of(cluster, name):
            values: dict[str, Value] = {
                "name": name,
                "type": entry.type,
                "release": getattr(entry, "version", None),  # of the client, where there are several
                "mount": entry.mount,
                "group": group,
                "required": entry.required,
            }
            yield {key: value for key, value in values.items() if value is not None}


def systems(cluster: Cluster) -> Mapping[str, System]:
    """The catalogue's facts of each operating system in use, by group."""
    names = {}
    for os in {node_type.os.key: node_type.os for node_type in cluster.node_types}.values():
        other = ("package_", "repository_", "lustre_")
        got = provision(cluster, os)
        unused = set(extensions()).difference(used_extensions(cluster))
        hidden = {name for each in unused for table in tables_of(os.id) for name in names_of(each, table)}
        hidden |= set() if cluster.has(Slurm) else _of_slurm(os.facts, got)
        facts = {name: text for name, text in os.facts.items() if not name.startswith(other) and name not in hidden}
        packages = {name: listed for name, listed in got.packages.items() if f"package_{name}" not in hidden}
        origins = {name: origin for name, origin in got.repositories.items() if f"repository_{name}" not in hidden}
        names[os_group(os)] = System(tuple(facts.items()), tuple(packages.items()), tuple(origins.items()))
    return names


def _of_slurm(facts: Mapping[str, str], got: Provision) -> set[str]:
    """Names of facts, packages and repositories that are Slurm's by their name or their packages'."""
    packages = {name for name, listed in got.packages.items() if "slurm" in " ".join((name, *listed))}
    names = {f"{kind}_{name}" for name in packages for kind in ("package", "repository")}
    return names | {name for name in facts if "slurm" in name}


def settings(cluster: Cluster) -> Context:
    """ansible.cfg."""
    return {"forks": cluster.of(Ansible).forks}


FILES = (
    File("tree/inventory/hosts.ini", inventory, per="tree"),
    File("tree/inventory/group_vars/all.yml", variables, per="tree"),
    File("tree/inventory/group_vars/{group}.yml", systems, source="tree/inventory/group_vars/os.yml"),
    File("tree/ansible.cfg", settings),
    File("tree/site.yml", always),
)
