#!/usr/bin/python3 -I
"""Sets QOS, accounts and users in the accounting database as the manifest states them, by sacctmgr.

    clustergen-accounts names   only the cluster and the names of QOS and accounts; runs before slurmctld starts, which
                                reports or rejects names in slurm.conf that the database lacks
    clustergen-accounts         everything; slurmctld must have started once and registered its TRES with slurmdbd
    clustergen-accounts check   changes nothing and prints what differs, a line each, separated by tabs: `differs`, the
                                subject, its value in the database and that of the manifest; or `unlisted` and an
                                entity that the manifest does not name. The last line is `compared`

A setting that the manifest does not state is reset: no limit, and the QOS of the parent account. The account root of
this cluster is reset in the same way if the manifest has accounts. Other entities that the manifest does not name are
left untouched; with `slurm.unlisted_accounts: remove`, accounts of this cluster and users in them are removed.

The last line of output is `changed` or `unchanged`. Exit status 1: a command failed, with the reason on stderr.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypedDict, cast

WAIT_SECONDS = 60
ROOT = "root"
Name = tuple[str, str]  # of an association: account and user, who is empty for the account itself
Settings = Mapping[str, str]  # sacctmgr's option → value
Row = tuple[str, str, str]  # subject, value in the database and that of the manifest
MISSING = "missing"


class Key(TypedDict):
    """A setting; `form` is how its texts are compared, `unset` what sacctmgr shows where nobody made it."""

    name: str
    form: str
    unset: str


class Qos(TypedDict):
    name: str
    settings: Settings
    description: Settings


class Account(TypedDict):
    """`coordinators`: None leaves them as they are."""

    name: str
    parent: str
    description: Settings
    users: list[str]
    coordinators: list[str] | None


class Association(TypedDict):
    account: str
    user: str
    settings: Settings


class Values(TypedDict):
    """Parents come before their accounts. `announces_inherited`: see the function of that name."""

    cluster: str
    federation: str
    announces_inherited: bool
    removes_unlisted: bool
    resources: list[str]
    qos_keys: list[Key]
    association_keys: list[Key]
    qos: list[Qos]
    accounts: list[Account]
    associations: list[Association]
    admin_levels: dict[str, list[str]]
    default_accounts: dict[str, str]


VALUES = cast("Values", json.loads(Path("/etc/clustergen/accounts.json").read_text(encoding="utf-8")))
CLUSTER = f"cluster={VALUES['cluster']}"
ENVIRONMENT = {**os.environ, "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LC_ALL": "C"}
QOS_KEYS = [key["name"] for key in VALUES["qos_keys"]]
ASSOCIATION_KEYS = [key["name"] for key in VALUES["association_keys"]]

# What sacctmgr is asked to show. `wopl`: without inherited values, only what is set on the association itself.
_COLUMNS = ["Account", "User", "Partition", "ParentName", *ASSOCIATION_KEYS]
QOS = ("qos", f"format={','.join(['Name', *QOS_KEYS])}")
QOS_TEXTS = ("qos", "format=Name,Description")
ACCOUNT_TEXTS = ("account", "format=Account,Description,Organization")
ASSOCIATIONS = ("assoc", "where", CLUSTER, "wopl", f"format={','.join(_COLUMNS)}")
COORDINATORS = ("account", "withcoord", "format=Account,Coordinators")
USERS = ("user", "format=User,AdminLevel,DefaultAccount")
FEDERATIONS = ("federation", "format=Federation,Cluster")
STATE: tuple[tuple[str, ...], ...] = (QOS, QOS_TEXTS, ACCOUNT_TEXTS, ASSOCIATIONS, COORDINATORS, USERS)
if VALUES["federation"]:
    STATE += (FEDERATIONS,)


class AccountsError(Exception):
    """Nothing more can be done."""


class Sacctmgr:
    """Its answers are kept until a change, since each takes a third of a second with some releases."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, ...], list[list[str]]] = {}
        self.has_failed = False

    def show(self, query: tuple[str, ...]) -> list[list[str]]:
        """Rows of cells."""
        if query not in self.answers:
            done = _run("-nP", "show", *query, stderr=None)
            if done.returncode:
                raise AccountsError(f"slurmdbd does not answer: sacctmgr show {' '.join(query)}")
            self.answers[query] = [line.split("|") for line in done.stdout.split("\n") if line]
        return self.answers[query]

    def change(self, *words: str) -> None:
        """Silent unless it fails; further changes are made nevertheless."""
        done = _run("-iQ", *words, stderr=subprocess.STDOUT)
        self.answers.clear()
        if done.returncode:
            print(f"sacctmgr {' '.join(words)}\n{done.stdout.rstrip()}", file=sys.stderr)
            self.has_failed = True

    def set(self, kind: str, where: Iterable[str], settings: Sequence[str]) -> None:
        if settings:
            self.change("modify", kind, "where", *where, "set", *settings)

    def state(self) -> list[list[str]]:
        """All that this program may change."""
        return [row for query in STATE for row in self.show(query)]


def _run(*words: str, stderr: int | None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["sacctmgr", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=stderr,
        env=ENVIRONMENT,
        encoding="utf-8",
        errors="replace",
        check=False,
    )


# --- texts of settings ------------------------------------------------------------------------------------------------


def amounts(text: str) -> list[str]:
    """`mem=6G,cpu=4`: sorted, memory in MiB."""
    items = []
    for item in text.split(","):
        name, _, number = item.rpartition("=")
        shift = {"M": 0, "G": 10, "T": 20, "P": 30}.get(number[-1:])
        if shift is not None and number[:-1].isdigit():
            number = str(int(number[:-1]) << shift)
        items.append(f"{name}={number}")
    return sorted(items)


def seconds(text: str) -> str:
    """Of `1-00:02:00`; another text as it is."""
    if ":" not in text:
        return text or "0"
    days, _, clock = text.rpartition("-")
    hours, minutes, rest = map(int, clock.split(":"))
    return str(int(days or 0) * 86400 + hours * 3600 + minutes * 60 + rest)


def is_same(form: str, one: str, other: str) -> bool:
    if one == other:
        return True
    if form == "tres":
        return amounts(one) == amounts(other)
    if form in ("list", "flags"):
        return sorted(one.split(",")) == sorted(other.split(","))
    if form == "seconds":
        return seconds(one) == seconds(other)
    if form == "factor":
        return one.removeprefix("0.000000") == other.removeprefix("0.000000")
    return form in ("mode", "text") and one.lower() == other.lower()


def word_for(form: str, key: str, present: str, requested: str) -> str:
    """The argument of `set`: what is not stated has to be taken back by name."""
    if form == "tres":
        stated = {item.rpartition("=")[0] for item in requested.split(",")}
        names = [item.rpartition("=")[0] for item in present.split(",") if item]
        requested = ",".join(filter(None, [requested, *(f"{name}=-1" for name in names if name not in stated)]))
    elif form not in ("list", "text"):
        requested = requested or "-1"
    return f"{key}={requested}"


def unequal(keys: Iterable[Key], present: Settings, stated: Settings) -> Iterator[tuple[Key, str, str]]:
    """Keys with the text in the database and the one that the manifest requests."""
    for key in keys:
        text, requested = present.get(key["name"], ""), stated.get(key["name"], key["unset"])
        if not is_same(key["form"], text, requested):
            yield key, text, requested


def differences(keys: Iterable[Key], present: Settings, stated: Settings) -> list[str]:
    """The arguments of `set`."""
    return [word_for(key["form"], key["name"], *texts) for key, *texts in unequal(keys, present, stated)]


# --- names, and QOS ---------------------------------------------------------------------------------------------------


def add_names(sacctmgr: Sacctmgr) -> None:
    qos = {row[0] for row in sacctmgr.show(QOS)}
    accounts = {row[0] for row in sacctmgr.show(ASSOCIATIONS)}
    for entry in VALUES["qos"]:
        if entry["name"] not in qos:
            sacctmgr.change("add", "qos", entry["name"])
    for account in VALUES["accounts"]:
        if account["name"] not in {*accounts, ROOT}:
            sacctmgr.change("add", "account", account["name"], CLUSTER, f"parent={account['parent']}")


def join_federation(sacctmgr: Sacctmgr, name: str) -> None:
    """Others of the federation are left untouched. A cluster is in one at most; sacctmgr refuses to move it."""
    members = [row[:2] for row in sacctmgr.show(FEDERATIONS)]
    if name not in [member[0] for member in members]:
        sacctmgr.change("add", "federation", name)
    if [name, VALUES["cluster"]] not in members:
        sacctmgr.change("modify", "federation", name, "set", f"clusters+={VALUES['cluster']}")


def wait_for_resources(sacctmgr: Sacctmgr) -> None:
    """slurmdbd learns of them from slurmctld."""
    for resource in VALUES["resources"]:
        for _ in range(WAIT_SECONDS):
            if resource in ["/".join(filter(None, row)) for row in sacctmgr.show(("tres", "format=Type,Name"))]:
                break
            sacctmgr.answers.clear()
            time.sleep(1)
        else:
            raise AccountsError(f"slurmdbd does not know {resource}: start slurmctld, which tells it")


def descriptions(
    sacctmgr: Sacctmgr, query: tuple[str, ...], entries: Iterable[Qos | Account]
) -> Iterator[tuple[str, str, str, str]]:
    """Name, key, text and requested text of descriptions that differ; the database has them in lower case."""
    texts = {row[0]: row[1:] for row in sacctmgr.show(query)}
    keys = query[-1].split(",")[1:]
    for entry in entries:
        cells = texts.get(entry["name"], [])
        last = len(keys) - 1  # which may hold a | itself
        present = dict(zip(keys, [*cells[:last], "|".join(cells[last:])]))
        for key, text in entry["description"].items():
            if present.get(key, "") != text.lower():
                yield entry["name"], key, present.get(key, ""), text


def describe(sacctmgr: Sacctmgr, kind: str, query: tuple[str, ...], entries: Iterable[Qos | Account]) -> None:
    for name, key, _, text in list(descriptions(sacctmgr, query, entries)):
        sacctmgr.set(kind, [f"name={name}"], [f"{key}={text}"])


def set_qos(sacctmgr: Sacctmgr) -> None:
    """All preempt lists that will change are emptied first: two QOS that swap places would preempt each other for a
    moment, which slurmdbd rejects.
    """
    rows = {row[0]: dict(zip(QOS_KEYS, row[1:])) for row in sacctmgr.show(QOS)}
    changes = [
        (entry["name"], differences(VALUES["qos_keys"], rows.get(entry["name"], {}), entry["settings"]))
        for entry in VALUES["qos"]
    ]
    for name, words in changes:
        if any(word.startswith("Preempt=") for word in words):
            sacctmgr.set("qos", [f"name={name}"], ["Preempt="])
    for name, words in changes:
        sacctmgr.set("qos", [f"name={name}"], words)


# --- accounts and users -----------------------------------------------------------------------------------------------


def present_associations(sacctmgr: Sacctmgr) -> tuple[dict[Name, Settings], dict[str, str]]:
    """Their settings, and the account above each account."""
    settings: dict[Name, Settings] = {}
    above: dict[str, str] = {}
    for account, user, partition, parent, *cells in sacctmgr.show(ASSOCIATIONS):
        if not partition:
            settings[account, user] = dict(zip(ASSOCIATION_KEYS, cells))
            if not user:
                above[account] = parent
    return settings, above


def stated_associations() -> dict[Name, Settings]:
    """Accounts before their users; those without settings of their own included."""
    stated = {(row["account"], ""): row["settings"] for row in VALUES["associations"] if not row["user"]}
    stated.update({(account["name"], user): {} for account in VALUES["accounts"] for user in account["users"]})
    stated.update({(row["account"], row["user"]): row["settings"] for row in VALUES["associations"]})
    return stated


def add_users(sacctmgr: Sacctmgr) -> None:
    present, _ = present_associations(sacctmgr)
    for account in VALUES["accounts"]:
        names = [user for user in account["users"] if (account["name"], user) not in present]
        if names:
            sacctmgr.change("add", "user", ",".join(names), f"account={account['name']}", CLUSTER)


def set_association(sacctmgr: Sacctmgr, name: Name, *words: str) -> None:
    account, user = name
    if user:
        sacctmgr.set("user", [f"name={user}", f"account={account}", CLUSTER], words)
    else:
        sacctmgr.set("account", [f"name={account}", CLUSTER], words)


def set_associations(sacctmgr: Sacctmgr) -> None:
    """slurmdbd rejects a QOS list that lacks the default QOS of any association below. So where lists or parents
    change, the defaults are removed first and set last.
    """
    present, above = present_associations(sacctmgr)
    stated = stated_associations()
    parents = {account["name"]: account["parent"] for account in VALUES["accounts"] if account["name"] != ROOT}
    changes: dict[Name, list[str]] = {}
    moving: set[Name] = set()
    for name, settings in stated.items():
        account, user = name
        changes[name] = differences(VALUES["association_keys"], present.get(name, {}), settings)
        parent = parents.get(account, "")
        if (
            any(word.startswith(("QOS=", "DefaultQOS=")) for word in changes[name])
            or (user and (account, "") in moving)
            or (not user and parent and (parent != above.get(account) or (parent, "") in moving))
        ):
            moving.add(name)
    cleared = {name for name in moving if present.get(name, {}).get("DefaultQOS")}
    for name in stated:
        if name in cleared:
            set_association(sacctmgr, name, "DefaultQOS=-1")
    for name in stated:
        account, user = name
        if not user and account in parents and parents[account] != above.get(account):
            set_association(sacctmgr, name, f"parent={parents[account]}")
        set_association(sacctmgr, name, *(word for word in changes[name] if not word.startswith("DefaultQOS=")))
    for name, settings in stated.items():
        default = f"DefaultQOS={settings.get('DefaultQOS', '')}"
        if settings.get("DefaultQOS") and (name in cleared or default in changes[name]):
            set_association(sacctmgr, name, default)
    if VALUES["announces_inherited"] and moving:
        announce_inherited(sacctmgr, moving)
    if VALUES["announces_inherited"]:
        announce_limits(sacctmgr, present, above)


def announce_inherited(sacctmgr: Sacctmgr, changed: set[Name]) -> None:
    """slurmdbd 24.11 notifies slurmctld of a changed list only for users of the account itself, not for accounts below
    that inherit it: they would keep the old list until slurmctld restarts. Setting an empty value again triggers the
    notification.
    """
    if "QOS" not in ASSOCIATION_KEYS:
        return
    present, above = present_associations(sacctmgr)
    for account in above:
        name = above[account]
        while name and (name, "") not in changed:
            name = above.get(name, "")
        if name:
            empty = (("QOS", "QOS="), ("DefaultQOS", "DefaultQOS=-1"))
            words = [word for key, word in empty if not present[account, ""].get(key)]
            set_association(sacctmgr, (account, ""), *words)


def announce_limits(sacctmgr: Sacctmgr, previous: Mapping[Name, Settings], parents: Mapping[str, str]) -> None:
    """The same for limits of a job or user: those that accounts inherit are set on them, and taken back. `previous`,
    `parents`: what associations and accounts had before the changes.
    """
    present, above = present_associations(sacctmgr)

    def inherited(name: str, account: str, settings: Mapping[Name, Settings], tree: Mapping[str, str]) -> str:
        texts = (settings.get((each, ""), {}).get(name) for each in ancestors(account, tree))
        return next(filter(None, texts), "")

    for account in above:
        limits = []
        for key in VALUES["association_keys"]:
            name = key["name"]
            if name.startswith(("Max", "Min", "Priority")) and not present[account, ""].get(name):
                text, old = inherited(name, account, present, above), inherited(name, account, previous, parents)
                if text != old:
                    limits.append((name, key["form"], text or old))
        set_association(sacctmgr, (account, ""), *(f"{name}={text}" for name, _, text in limits))
        set_association(sacctmgr, (account, ""), *(word_for(form, name, text, "") for name, form, text in limits))


def coordinators(sacctmgr: Sacctmgr, account: Account) -> tuple[list[str], list[str]]:
    """Coordinators of an account that are missing, and ones that are not stated; those of root are of all accounts."""
    stated = account["coordinators"]
    if stated is None:
        return [], []
    present = {row[0]: [user for user in row[1].split(",") if user] for row in sacctmgr.show(COORDINATORS)}
    current = present.get(account["name"], [])
    above = [] if account["name"] == ROOT else present.get(ROOT, [])
    return [user for user in stated if user not in current], [user for user in current if user not in {*stated, *above}]


def set_coordinators(sacctmgr: Sacctmgr) -> None:
    """Exactly these, and those of root; the accounts below follow."""
    for account in VALUES["accounts"]:
        for verb, users in zip(("add", "remove"), coordinators(sacctmgr, account)):
            for user in users:
                sacctmgr.change(verb, "coordinator", f"account={account['name']}", f"names={user}")


def user_settings(sacctmgr: Sacctmgr) -> Iterator[tuple[str, str, str, str]]:
    """User, key, text and requested text of settings that differ."""
    present = {row[0]: row[1:] for row in sacctmgr.show(USERS)}
    for level, users in VALUES["admin_levels"].items():
        for user in users:
            text = present.get(user, ["None"])[0]
            if text != level:
                yield user, "AdminLevel", text, level
    for user, account in VALUES["default_accounts"].items():
        text = present.get(user, ["", ""])[1]
        if text != account:
            yield user, "DefaultAccount", text, account


def set_users(sacctmgr: Sacctmgr) -> None:
    for user, key, _, text in list(user_settings(sacctmgr)):
        where = [f"name={user}"] if key == "AdminLevel" else [f"name={user}", CLUSTER]
        sacctmgr.set("user", where, [f"{key}={text}"])


# --- what the manifest does not list ----------------------------------------------------------------------------------


def unlisted(sacctmgr: Sacctmgr) -> tuple[list[Name], list[str]]:
    """Users with their account, and accounts, children before their parents; slurmdbd's own are no one's."""
    present, above = present_associations(sacctmgr)
    stated = stated_associations()
    accounts = [name for name in above if name != ROOT and (name, "") not in stated]
    depths = {name: sum(1 for _ in ancestors(name, above)) for name in accounts}
    users = [name for name in present if name[1] and name not in {*stated, (ROOT, ROOT)}]
    return users, sorted(accounts, key=lambda name: -depths[name])


def ancestors(account: str, above: Mapping[str, str]) -> Iterator[str]:
    while account in above:
        account = above[account]
        yield account


def remove_unlisted(sacctmgr: Sacctmgr) -> None:
    """A user's default account is changed first: sacctmgr refuses to remove it."""
    users, accounts = unlisted(sacctmgr)
    defaults = {row[0]: row[2] for row in sacctmgr.show(USERS)}
    for account, user in users:
        others = [entry["name"] for entry in VALUES["accounts"] if user in entry["users"]]
        if others and defaults.get(user) == account:
            sacctmgr.set("user", [f"name={user}", CLUSTER], [f"DefaultAccount={others[0]}"])
        sacctmgr.change("delete", "user", f"name={user}", f"account={account}", CLUSTER)
    for account in accounts:
        sacctmgr.change("delete", "account", f"name={account}", CLUSTER)


# --- comparison -------------------------------------------------------------------------------------------------------


def rows_of_qos(sacctmgr: Sacctmgr) -> Iterator[Row]:
    rows = {row[0]: dict(zip(QOS_KEYS, row[1:])) for row in sacctmgr.show(QOS)}
    for entry in VALUES["qos"]:
        name = f"QOS {entry['name']}"
        if entry["name"] not in rows:
            yield name, MISSING, ""
            continue
        for key, text, requested in unequal(VALUES["qos_keys"], rows[entry["name"]], entry["settings"]):
            yield f"{name} {key['name']}", text, requested
    for qos, field, text, requested in descriptions(sacctmgr, QOS_TEXTS, VALUES["qos"]):
        if qos in rows:
            yield f"QOS {qos} {field}", text, requested


def rows_of_accounts(sacctmgr: Sacctmgr) -> Iterator[Row]:
    present, above = present_associations(sacctmgr)
    parents = {account["name"]: account["parent"] for account in VALUES["accounts"] if account["name"] != ROOT}
    for name, settings in stated_associations().items():
        account, user = name
        subject = f"user {user} in {account}" if user else f"account {account}"
        if name not in present:
            yield subject, MISSING, ""
            continue
        if not user and account in parents and parents[account] != above[account]:
            yield f"{subject} parent", above[account], parents[account]
        for key, text, requested in unequal(VALUES["association_keys"], present[name], settings):
            yield f"{subject} {key['name']}", text, requested
    for account, field, text, requested in descriptions(sacctmgr, ACCOUNT_TEXTS, VALUES["accounts"]):
        if account in above:
            yield f"account {account} {field}", text, requested
    for entry in VALUES["accounts"]:
        for user in coordinators(sacctmgr, entry)[0]:
            yield f"account {entry['name']} coordinator {user}", MISSING, ""
        for user in coordinators(sacctmgr, entry)[1]:
            yield f"account {entry['name']} coordinator {user}", "present", "none"
    for user, field, text, requested in user_settings(sacctmgr):
        yield f"user {user} {field}", text, requested


def check(sacctmgr: Sacctmgr) -> None:
    rows = list(rows_of_qos(sacctmgr))
    names = []
    if VALUES["accounts"]:
        rows += rows_of_accounts(sacctmgr)
        users, accounts = unlisted(sacctmgr)
        names += [f"account {account}" for account in accounts]
        names += [f"user {user} in {account}" for account, user in users]
    federation = VALUES["federation"]
    if federation and [federation, VALUES["cluster"]] not in [row[:2] for row in sacctmgr.show(FEDERATIONS)]:
        rows.append((f"federation {federation}", MISSING, ""))
    if VALUES["removes_unlisted"]:
        rows += [(name, "not in the manifest", "") for name in names]
        names = []
    if VALUES["qos"]:
        stated = {"normal", *(entry["name"] for entry in VALUES["qos"])}
        names += [f"QOS {row[0]}" for row in sacctmgr.show(QOS) if row[0] not in stated]
    for row in rows:
        print("differs", *(text.replace("\t", " ") for text in row), sep="\t")
    for name in names:
        print("unlisted", name, sep="\t")
    print("compared")


def set_all(sacctmgr: Sacctmgr) -> None:
    wait_for_resources(sacctmgr)
    set_qos(sacctmgr)
    describe(sacctmgr, "qos", QOS_TEXTS, VALUES["qos"])
    if VALUES["accounts"]:
        describe(sacctmgr, "account", ACCOUNT_TEXTS, VALUES["accounts"])
        add_users(sacctmgr)
        set_associations(sacctmgr)
        set_coordinators(sacctmgr)
        set_users(sacctmgr)
        if VALUES["removes_unlisted"]:
            remove_unlisted(sacctmgr)


def main(step: str) -> None:
    if step not in ("", "names", "check"):
        raise AccountsError(f"no such step: {step}")
    sacctmgr = Sacctmgr()
    if step == "check":
        check(sacctmgr)
        return
    added = []
    if not sacctmgr.show(("cluster", CLUSTER, "format=Cluster")):  # slurmdbd 22.05 lists no coordinators without one
        sacctmgr.change("add", "cluster", VALUES["cluster"])
        added = [["cluster " + VALUES["cluster"]]]
    before = sacctmgr.state()
    add_names(sacctmgr)
    if step != "names":
        if VALUES["federation"]:
            join_federation(sacctmgr, VALUES["federation"])
        if VALUES["qos"] or VALUES["accounts"]:
            set_all(sacctmgr)
    after = sacctmgr.state()
    if sacctmgr.has_failed:
        sys.exit(1)
    for sign, one, other in (("<", before, after), (">", added + after, before)):
        rows = {tuple(row) for row in other}
        print(*(f"{sign} {'|'.join(row)}\n" for row in one if tuple(row) not in rows), sep="", end="")
    print("changed" if added or before != after else "unchanged")


try:
    main(sys.argv[1] if len(sys.argv) > 1 else "")
except AccountsError as error:
    sys.exit(f"clustergen-accounts: {error}")
