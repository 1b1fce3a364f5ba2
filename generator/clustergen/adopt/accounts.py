"""Accounts and users of the books: to `slurm.accounts`, with the QOS that each account has or inherits."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from clustergen.adopt.books import TAKEN_BACK, Fields, Untold, fits, origin, phrase, take_fields
from clustergen.adopt.draft import Draft
from clustergen.adopt.originals import Originals
from clustergen.adopt.qos import COLUMNS, NORMAL, take_qos
from clustergen.adopt.sacctmgr import Books, Entry, read_books
from clustergen.adopt.settings import number
from clustergen.diagnostics import ClustergenError
from clustergen.manifest.slurm import AnyName, UserName
from clustergen.plan.words import count
from clustergen.records import record

_ROOT = "root"
_AS_PARENT = 0x7FFFFFFF  # Fairshare=parent
_FIELDS: Fields = {
    "Description": ("description", phrase),
    "Organization": ("organization", phrase),
    "GrpTRES": ("group_tres", None),
    "MaxJobs": ("max_jobs", number(0, 1 << 31)),
}
_RIGHTS = ("QOS", "DefaultQOS")
_SILENT = {"Fairshare": "1", "AdminLevel": "None"}
_OF_ROOT = {"DefaultAccount": _ROOT, "AdminLevel": "Administrator", "Fairshare": "1"}
"""What the user root has from the first start."""
_HERE = ("slurm", "accounts")


@record
class _Rights:
    """The QOS of an account or user, its own or those of the account above, and that of jobs which name none."""

    qos: tuple[str, ...]
    stated: str
    """The default, where one is stated."""

    def below(self, entry: Entry) -> _Rights:
        """Those of an entry below: its list, or what it adds and takes away."""
        own = [word for word in entry.options.get("QOS", "").split(",") if word]
        plain = [word for word in own if word[0] not in "+-"]
        names = [*(plain or self.qos), *(word[1:] for word in own if word[0] == "+")]
        gone = {word[1:] for word in own if word[0] == "-"}
        kept = tuple(name for name in dict.fromkeys(names) if name not in gone)
        return _Rights(kept, entry.options.get("DefaultQOS", "") or self.stated)

    @property
    def default(self) -> str:
        """What Slurm takes for a job that names none."""
        return self.stated or (self.qos[0] if len(self.qos) == 1 else NORMAL)

    def same(self, other: _Rights) -> bool:
        return set(self.qos) == set(other.qos) and self.default == other.default


def take_books(draft: Draft, originals: Originals, paths: Iterable[Path]) -> None:
    """QOS, accounts and users of the files. ClustergenError where they are no books, or those of another cluster."""
    books = read_books(paths, COLUMNS)
    _same_cluster(books, originals)
    for place in books.latin[:1]:
        draft.note("choice", "bytes that are not UTF-8 are taken for Latin-1 letters", place)
    for place, words in books.unread:
        draft.note("left-out", words, place)
    kind = originals.conf.text("AccountingStorageType") or ""
    if "slurmdbd.conf" not in originals.configs:
        if not kind.lower().endswith("slurmdbd"):
            words = "slurm.conf has no accounting by slurmdbd, so nothing of its accounts is in the manifest"
            draft.note("left-out", words, "slurm.conf")
            return
        words = "there is no slurmdbd.conf: slurmdbd stays what it is, and of QOS and accounts nothing is rendered"
        draft.note("choice", words)
    untold = Untold(draft)
    known = take_qos(draft, books, untold)
    if books.cluster is not None:
        _Accounts(draft, books, known, untold).take(books.cluster)
    draft.note("choice", _counted(draft))
    if untold.tell():
        words = "what no field has stays in slurmdbd's database as it is, and a new database would not have it"
        draft.note("choice", words)


def _counted(draft: Draft) -> str:
    qos, accounts = ({path[2] for path in draft.items if path[:2] == ("slurm", name)} for name in ("qos", "accounts"))
    members = (item.value for item in draft.below(_HERE) if item.path[3:] == ("users",))
    users = {name for names in members if isinstance(names, tuple) for name in names}
    words = f"{len(qos)} QOS, {count(len(accounts), 'account')} and {count(len(users), 'user')} are in the manifest"
    return f"{words}, and are not part of the comparison below"


def _same_cluster(books: Books, originals: Originals) -> None:
    named = originals.conf.text("ClusterName")
    found = books.cluster
    if found is not None and named is not None and found.name.lower() != named.lower():
        hint = f"sacctmgr dump {named.lower()} file=FILE"
        raise ClustergenError(f"{found.place}: accounts of '{found.name}', and slurm.conf is of '{named}'", hint)


class _Accounts:
    """The accounts of a cluster, parents first as the dump has them, and then their users."""

    def __init__(self, draft: Draft, books: Books, known: list[str], untold: Untold) -> None:
        self._draft = draft
        self._books = books
        self._untold = untold
        self._known = {NORMAL, *known}
        self._defined = list(dict.fromkeys(str(path[2]) for path in draft.items if path[:2] == ("slurm", "qos")))
        self._rights: dict[str, _Rights] = {}
        """Of the accounts that are taken, and of root."""

    def take(self, cluster: Entry) -> None:
        top = _Rights((), "").below(cluster)
        self._rights[_ROOT] = top if top.qos else _Rights((NORMAL,), top.stated)
        self._tell(cluster, {**_SILENT, **{key: cluster.options.get(key, "") for key in _RIGHTS}})
        if not self._books.qos and any(_names_qos(entry) for entry in self._books.accounts):
            words = "QOS of accounts are not in the manifest, as this dump does not say what they are"
            how = "--accounts a second time, with what sacctmgr -P show qos prints"
            self._draft.note("left-out", f"{words}: {how}", cluster.place)
        for entry in self._books.accounts:
            why = "" if fits(entry.name, AnyName) else "no name that the manifest takes"
            if not why and entry.account not in self._rights:
                why = f"the account above it, {entry.account}, is not in the manifest"
            if why:
                self._draft.note("left-out", f"account {entry.name}, with its users: {why}", entry.place)
                continue
            self._rights[entry.name] = self._rights[entry.account].below(entry)
            self._account(entry)
        self._users()

    def _account(self, entry: Entry) -> None:
        here = (*_HERE, entry.name)
        above = entry.account if entry.account != _ROOT else ""
        if above:
            self._draft.set((*here, "parent"), above, [origin(entry, "Parent", above)], needed=True, claim=False)
        text = entry.options.get("Fairshare", "1")
        share = _AS_PARENT if text.lower() == "parent" else number(0, _AS_PARENT)(text)
        if share is None:
            self._untold.add(entry, "Fairshare", text, "no number of shares; 1 is written")
        said = ["The shares of the account above."] if share == _AS_PARENT else []
        came = [origin(entry, "Fairshare", text)]
        share = 1 if share is None else share
        self._draft.set((*here, "fairshare"), share, came, needed=True, claim=False, comments=said)
        taken = ("Fairshare", *_RIGHTS)
        rest = Entry("Account", entry.name, entry.account, _without(entry, taken), entry.place)
        silent = {"Description": entry.name, "Organization": above or entry.name}
        take_fields(self._draft, here, rest, _FIELDS, silent, self._untold)
        if self._books.qos:
            self._qos(entry)

    def _qos(self, entry: Entry) -> None:
        """The list, unless it is all that there are, and the default, unless it follows from the list."""
        here, right = (*_HERE, entry.name), self._rights[entry.name]
        usable = [name for name in right.qos if name in self._known]
        for name in right.qos:
            if name not in usable:
                self._untold.add(entry, "QOS", name, f"the manifest has no such QOS; {TAKEN_BACK}")
        everything = [NORMAL, *self._defined]
        if not usable:
            usable = [NORMAL]
            self._untold.add(entry, "QOS", "", "an account without a QOS cannot be said: it has normal")
        if set(usable) != set(everything):
            self._draft.set((*here, "qos"), tuple(usable), [origin(entry, "QOS", ",".join(usable))], claim=False)
        else:
            usable = list(dict.fromkeys(everything))
        follows = NORMAL if NORMAL in usable else usable[0]
        if right.default == follows or not self._defined:
            return
        if right.default in usable:
            self._draft.set(
                (*here, "default_qos"), right.default, [origin(entry, "DefaultQOS", right.default)], claim=False
            )
        else:
            self._untold.add(entry, "DefaultQOS", right.stated, f"jobs that name none will have {follows}")

    def _users(self) -> None:
        """By account, in the order in which a new database would get them: the first is a user's default account."""
        members: dict[str, list[Entry]] = {}
        for entry in self._books.users:
            if (entry.account, entry.name) == (_ROOT, _ROOT):
                self._tell(entry, _OF_ROOT)
            elif entry.account == _ROOT:
                self._untold.add(entry, "Account", _ROOT, "the manifest has no users of root")
            elif not fits(entry.name, UserName):
                self._untold.add(entry, "User", entry.name, "no name that the manifest takes")
            elif entry.options.get("Partition"):
                self._untold.add(entry, "Partition", entry.options["Partition"], "no field has users of one partition")
            elif entry.account in self._rights:
                members.setdefault(entry.account, []).append(entry)
        first: set[str] = set()
        for account in self._rights:
            users = members.get(account, [])
            names = tuple(dict.fromkeys(entry.name for entry in users))
            if names:
                came = [origin(entry, "User", entry.name) for entry in users]
                self._draft.set((*_HERE, account, "users"), names, came, claim=False)
            for entry in users:
                self._user(entry, first)

    def _user(self, entry: Entry, first: set[str]) -> None:
        """What an account's user has besides. `first`: those of whom an account is known already."""
        above = self._rights[entry.account]
        silent = dict(_SILENT)
        if above.below(entry).same(above):
            silent |= {key: entry.options.get(key, "") for key in _RIGHTS}
        default = entry.options.get("DefaultAccount", "")
        if entry.name in first or default == entry.account:
            silent["DefaultAccount"] = default
        first.add(entry.name)
        self._tell(entry, silent)

    def _tell(self, entry: Entry, silent: dict[str, str]) -> None:
        for key, text in entry.options.items():
            if text and text != silent.get(key):
                self._untold.add(entry, key, text)


def _names_qos(entry: Entry) -> bool:
    return bool({*entry.options.get("QOS", "").split(","), entry.options.get("DefaultQOS", "")} - {"", NORMAL})


def _without(entry: Entry, keys: Iterable[str]) -> dict[str, str]:
    return {key: text for key, text in entry.options.items() if key not in keys}
