"""Accounts and users of the dump: to `slurm.accounts`, with the QOS that each account has or inherits."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from clustergen.catalogue.sacctmgr import AS_PARENT
from clustergen.cluster.slurm.rights import NORMAL, ROOT, Rights
from clustergen.diagnostics import ClustergenError, ManifestPath
from clustergen.diagnostics.words import counted
from clustergen.importer.associations import (
    REMOVED_BY_SCRIPT,
    Fields,
    Unsupported,
    fields_of,
    import_fields,
    origin,
    phrase,
)
from clustergen.importer.draft import Draft
from clustergen.importer.forms import fits, number, takes
from clustergen.importer.originals import Originals
from clustergen.importer.qos import COLUMNS, import_qos
from clustergen.importer.sacctmgr import AccountingDump, Entry, read_dump
from clustergen.manifest.base import AnyName, UserName
from clustergen.manifest.model import Manifest

_RIGHTS = ("QOS", "DefaultQOS")
_LIMITS = fields_of("association", without=("Fairshare", *_RIGHTS))
_FIELDS: Fields = {
    "Description": (("description",), phrase),
    "Organization": (("organization",), phrase),
    **_LIMITS,
}
_SILENT = {"Fairshare": "1", "AdminLevel": "None"}
_LEVELS = ("operator", "administrator")
_OF_ROOT = {"DefaultAccount": ROOT, "AdminLevel": "Administrator", "Fairshare": "1"}
"""Settings of the user root from the first start on."""
_SECTION = ("slurm", "accounts")


def _list_of(entry: Entry, inherited: tuple[str, ...]) -> tuple[str, ...]:
    """The list of QOS that an entry states, or what it adds to the inherited one and takes from it; empty: neither."""
    names = [word for word in entry.options.get("QOS", "").split(",") if word]
    plain = [word for word in names if word[0] not in "+-"]
    listed = [*(plain or inherited), *(word[1:] for word in names if word[0] == "+")]
    removed = {word[1:] for word in names if word[0] == "-"}
    return tuple(name for name in dict.fromkeys(listed) if name not in removed) if names else ()


def import_accounts(draft: Draft, originals: Originals, paths: Iterable[Path]) -> None:
    """QOS, accounts and users of the files. ClustergenError where they are no dump, or those of another cluster."""
    dump = read_dump(paths, COLUMNS)
    _same_cluster(dump, originals)
    for place in dump.latin[:1]:
        draft.note("choice", "bytes that are not UTF-8 are read as Latin-1", place)
    for place, words in dump.unread:
        draft.note("left-out", words, place)
    kind = originals.conf.text("AccountingStorageType") or ""
    if "slurmdbd.conf" not in originals.configs:
        if not kind.lower().endswith("slurmdbd"):
            words = "slurm.conf does not use slurmdbd for accounting, so the manifest contains no accounts"
            draft.note("left-out", words, "slurm.conf")
            return
        words = "there is no slurmdbd.conf: slurmdbd keeps its configuration, and clustergen renders no QOS or accounts"
        draft.note("choice", words)
    unsupported = Unsupported(draft)
    qos_names = import_qos(draft, dump, unsupported)
    if dump.cluster is not None:
        _Accounts(draft, dump, qos_names, unsupported).take(dump.cluster)
    draft.note("choice", _counted(draft))
    if unsupported.report():
        words = "settings without a field stay in slurmdbd's database; a new database would not have them"
        draft.note("choice", words)


def _counted(draft: Draft) -> str:
    qos, accounts = ({path[2] for path in draft.items if path[:2] == ("slurm", name)} for name in ("qos", "accounts"))
    members = (item.value for item in draft.below(_SECTION) if item.path[3:] == ("users",))
    users = {name for names in members if isinstance(names, tuple) for name in names}
    words = f"{len(qos)} QOS, {counted(len(accounts), 'account')} and {counted(len(users), 'user')} are in the manifest"
    return f"{words}; the comparison below does not include them"


def _same_cluster(dump: AccountingDump, originals: Originals) -> None:
    named = originals.conf.text("ClusterName")
    cluster = dump.cluster
    if cluster is not None and named is not None and cluster.name.lower() != named.lower():
        hint = f"sacctmgr dump {named.lower()} file=FILE"
        raise ClustergenError(
            f"{cluster.place}: this dump is of cluster '{cluster.name}', but slurm.conf is of '{named}'", hint
        )


class _Accounts:
    """The accounts of a cluster, parents first as the dump has them, and then their users."""

    def __init__(self, draft: Draft, dump: AccountingDump, qos_names: list[str], unsupported: Unsupported) -> None:
        self._draft = draft
        self._dump = dump
        self._unsupported = unsupported
        self._qos_names = {NORMAL, *qos_names}
        self._above = {account.name: account.account for account in dump.accounts}
        self._rights: dict[str, Rights] = {}
        """Of the accounts that are taken, and of root."""

    def take(self, cluster: Entry) -> None:
        self._rights[ROOT] = Rights((NORMAL,), NORMAL, True, True)
        top = Entry("Cluster", ROOT, "", _without(cluster, ("Fairshare",)), cluster.place)
        self._take(top, (*_SECTION, ROOT), _LIMITS, self._rights[ROOT], {})
        self._rights[ROOT] = self._below(top, self._rights[ROOT])
        if not self._dump.qos and any(_names_qos(entry) for entry in self._dump.accounts):
            words = "the manifest contains no QOS of accounts, because this dump does not define them"
            how = "pass --accounts a second time with the output of sacctmgr -P show qos"
            self._draft.note("left-out", f"{words}: {how}", cluster.place)
        for entry in self._dump.accounts:
            why = "" if fits(entry.name, AnyName) else "the name is not valid in a manifest"
            if not why and entry.account not in self._rights:
                why = f"the account above it, {entry.account}, is not in the manifest"
            if why:
                self._draft.note("left-out", f"account {entry.name}, with its users: {why}", entry.place)
                continue
            self._account(entry)
            self._rights[entry.name] = self._below(entry, self._rights[entry.account])
        self._users()

    def _account(self, entry: Entry) -> None:
        path = (*_SECTION, entry.name)
        above = entry.account if entry.account != ROOT else ""
        if above:
            self._draft.set((*path, "parent"), above, [origin(entry, "Parent", above)], needed=True, claim=False)
        share = self._share(entry)
        comments = ["The shares of the account above."] if share == AS_PARENT else []
        came = [origin(entry, "Fairshare", str(share))]
        self._draft.set((*path, "fairshare"), share, came, needed=True, claim=False, comments=comments)
        rest = Entry("Account", entry.name, entry.account, _without(entry, ("Fairshare",)), entry.place)
        silent = {"Description": entry.name, "Organization": above or entry.name}
        self._take(rest, path, _FIELDS, self._rights[entry.account], silent)

    def _share(self, entry: Entry) -> int:
        text = entry.options.get("Fairshare", "1")
        share = AS_PARENT if text.lower() == "parent" else number(text)
        if not isinstance(share, int) or not takes(Manifest, "slurm.accounts.NAME.fairshare", share):
            self._unsupported.add(entry, "Fairshare", text, "not a number of shares; clustergen writes 1")
            return 1
        return share

    def _take(self, entry: Entry, path: ManifestPath, fields: Fields, above: Rights, silent: dict[str, str]) -> None:
        """The settings of an association, its QOS included."""
        rest = Entry(entry.kind, entry.name, entry.account, _without(entry, _RIGHTS), entry.place)
        import_fields(self._draft, path, rest, fields, silent, self._unsupported)
        if self._dump.qos:
            self._qos(entry, path, above)

    def _below(self, entry: Entry, above: Rights) -> Rights:
        """The rights of an entry, as the manifest has them."""
        listed = tuple(name for name in _list_of(entry, above.qos) if name in self._qos_names)
        stated = entry.options.get("DefaultQOS") or None
        rights = above.below(listed, stated)
        return rights if rights.default in rights.qos else above.below(listed, None)

    def _qos(self, entry: Entry, path: ManifestPath, above: Rights) -> None:
        """The list and the default that an entry states, unless they are the inherited ones."""
        listed = _list_of(entry, above.qos)
        for name in listed:
            if name not in self._qos_names:
                self._unsupported.add(entry, "QOS", name, f"the manifest does not define this QOS; {REMOVED_BY_SCRIPT}")
        usable = tuple(name for name in listed if name in self._qos_names)
        if entry.options.get("QOS") and not usable:
            self._unsupported.add(
                entry, "QOS", "", "the manifest cannot express an empty list: it inherits the QOS of the parent account"
            )
        if usable and set(usable) != set(above.qos):
            self._draft.set((*path, "qos"), usable, [origin(entry, "QOS", ",".join(usable))], claim=False)
        stated = entry.options.get("DefaultQOS", "")
        rights = above.below(usable, None)
        if stated in ("", rights.default):
            return
        if stated in rights.qos:
            self._draft.set((*path, "default_qos"), stated, [origin(entry, "DefaultQOS", stated)], claim=False)
        else:
            self._unsupported.add(entry, "DefaultQOS", stated, f"jobs submitted without --qos get {rights.default}")

    def _users(self) -> None:
        """By account, in the order in which a new database would get them: the first is a user's default account."""
        members: dict[str, list[Entry]] = {}
        for entry in self._dump.users:
            if (entry.account, entry.name) == (ROOT, ROOT):
                self._tell(entry, _OF_ROOT)
            elif entry.account == ROOT:
                self._unsupported.add(entry, "Account", ROOT, "a manifest has no users of root")
            elif not fits(entry.name, UserName):
                self._unsupported.add(entry, "User", entry.name, "the name is not valid in a manifest")
            elif entry.options.get("Partition"):
                self._unsupported.add(
                    entry,
                    "Partition",
                    entry.options["Partition"],
                    "the manifest has no field for users of one partition",
                )
            elif entry.account in self._rights:
                members.setdefault(entry.account, []).append(entry)
        first: set[str] = set()
        for account in self._rights:
            users = members.get(account, [])
            names = tuple(dict.fromkeys(entry.name for entry in users))
            if names:
                came = [origin(entry, "User", entry.name) for entry in users]
                self._draft.set((*_SECTION, account, "users"), names, came, claim=False)
            for entry in users:
                self._user(entry, first)

    def _user(self, entry: Entry, first: set[str]) -> None:
        """Further settings of an account's user. `first`: users of whom an account is known already."""
        path = (*_SECTION, entry.account, "user_limits", entry.name)
        share = self._share(entry)
        if share != 1:
            self._draft.set((*path, "fairshare"), share, [origin(entry, "Fairshare", str(share))], claim=False)
        default, level = entry.options.get("DefaultAccount", ""), entry.options.get("AdminLevel", "None").lower()
        person = ("slurm", "users", entry.name)
        if entry.name not in first and default in self._rights and default not in (entry.account, ROOT):
            self._draft.set(
                (*person, "default_account"), default, [origin(entry, "DefaultAccount", default)], claim=False
            )
        if level in _LEVELS:
            self._draft.set((*person, "admin_level"), level, [origin(entry, "AdminLevel", level)], claim=False)
        if entry.name not in first:
            self._coordinates(entry)
        first.add(entry.name)
        taken = ("Fairshare", "DefaultAccount", "AdminLevel", "Coordinator")
        rest = Entry("User", entry.name, entry.account, _without(entry, taken), entry.place)
        self._take(rest, path, _LIMITS, self._rights[entry.account], {})

    def _coordinates(self, entry: Entry) -> None:
        """Coordinators of an account are those of the accounts below it as well, which old releases list, too."""
        stated = [name for name in entry.options.get("Coordinator", "").split(",") if name in self._rights]
        for account in stated:
            if account == ROOT or self._above.get(account) in stated:
                continue
            path = (*_SECTION, account, "coordinators")
            item = self._draft.items.get(path)
            names = (*(item.value if item and isinstance(item.value, tuple) else ()), entry.name)
            self._draft.set(path, names, [origin(entry, "Coordinator", account)], claim=False)

    def _tell(self, entry: Entry, silent: dict[str, str]) -> None:
        for key, text in entry.options.items():
            if text and text != silent.get(key):
                self._unsupported.add(entry, key, text)


def _names_qos(entry: Entry) -> bool:
    return bool({*entry.options.get("QOS", "").split(","), entry.options.get("DefaultQOS", "")} - {"", NORMAL})


def _without(entry: Entry, keys: Iterable[str]) -> dict[str, str]:
    return {key: text for key, text in entry.options.items() if key not in keys}
