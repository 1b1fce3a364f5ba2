"""systemd's readers: of units, of the managers' settings, and of the directories that its small tools read."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from clustergen.verify.check import Check, Question, Reader, any_word, failure, paths, place_of
from clustergen.verify.programs import Answer, NotHere

_UNITS = "/etc/systemd/system/"
_UNIT_DIRECTORIES = ("usr/lib/systemd/system", "lib/systemd/system", "etc/systemd/system")
_NEEDS = re.compile(r"^(?:Requires|Requisite|BindsTo)=(.*)$", re.MULTILINE)
_NOT_EXECUTABLE = re.compile(r"Command (\S+) is not executable: No such file or directory")
_PACKAGED = re.compile(r"/(?:usr/)?lib/systemd/system/")
_STAND_IN = "[Unit]\nDescription=stands in for the unit of a package that is not here\n"
_STAND_IN_SERVICE = _STAND_IN + "[Service]\nType=oneshot\nExecStart=/usr/bin/true\n"
_STAND_IN_SOCKET = _STAND_IN + "[Socket]\nListenStream=/run/stand-in\n"
_STAND_INS = {"service": _STAND_IN_SERVICE, "socket": _STAND_IN_SOCKET}
_VERSION = "$program --version | head -1"


def _unit_of(target: str) -> str:
    """The unit that a file is about: a drop-in is about the one that its directory names."""
    name = target.removeprefix(_UNITS).partition("/")[0]
    return name.removesuffix(".d")


def _units(question: Question) -> list[str]:
    """Arguments of `systemd-analyze verify`; a template is checked as an instance, with the name of a unit."""
    names = dict.fromkeys(_unit_of(target) for target in question.targets)
    return [name.replace("@.", "@multi-user.target.") for name in names]


def _packaged(question: Question, unit: str) -> bool:
    return any((question.program.root / directory / unit).exists() for directory in _UNIT_DIRECTORIES)


def _missing(question: Question) -> list[str]:
    """Units that those of the tree extend or cannot do without, and that neither the tree nor the root has."""
    tree_units = {
        _unit_of(place_of(entry)) for entry in question.entries if "/" not in place_of(entry).removeprefix(_UNITS)
    }
    named = {_unit_of(target) for target in question.targets}
    named |= {unit for entry in question.entries for line in _NEEDS.findall(entry.text) for unit in line.split()}
    named |= {unit.replace(".socket", ".service") for unit in named}  # a socket starts the service of its name
    plain = {unit for unit in named if unit.endswith((".service", ".target", ".socket", ".timer")) and "%" not in unit}
    return sorted(unit for unit in plain - tree_units if not _packaged(question, unit))


def _stand_ins(question: Question, directory: Path) -> Iterable[tuple[Path, str]]:
    missing = _missing(question)
    place = directory / "usr/lib/systemd/system"
    place.mkdir(parents=True)
    for unit in missing:
        (place / unit).write_text(_STAND_INS.get(unit.rpartition(".")[2], _STAND_IN), encoding="utf-8")
    return [(directory, "/")] if missing else []


def _of_the_tree(question: Question, program: str) -> bool:
    return program in question.node.files or (program.startswith("/usr/local/") and "clustergen" in program)


def _unit_complaints(answer: Answer, question: Question) -> Iterator[str]:
    if answer.code is None:
        yield "no answer in time"
    excused = 0
    for line in answer.err.splitlines():
        match = _NOT_EXECUTABLE.search(line)
        if (match and not _of_the_tree(question, match[1])) or _PACKAGED.match(line):
            excused += 1
        elif line.strip():
            yield line.strip()
    if answer.code and not excused and not answer.err.strip():
        yield f"systemd-analyze: exit status {answer.code} without a message"


def _unit_notes(answer: Answer, question: Question) -> Iterator[str]:
    yield from (
        f"replaced by an empty unit, because its package is not installed: {unit}" for unit in _missing(question)
    )
    programs = sorted({match[1] for match in _NOT_EXECUTABLE.finditer(answer.err)})
    yield from (f"not checked, because its package is not installed: {program}" for program in programs)


_CANARY = "ClustergenCanary"


def _settings(
    section: str, prepare: str, daemon: str, read_as: str, written_as: str, *, is_one_user: bool = True
) -> Reader:
    """A daemon that reads its settings at its start; a key that it cannot know shows that it has read its drop-ins."""

    def complaints(answer: Answer, _question: Question) -> Iterator[str]:
        if _CANARY not in answer.err:
            raise NotHere(f"it did not read {written_as}: {' '.join(answer.lines[-2:])}")
        for line in answer.err.splitlines():
            if line.startswith(read_as) and _CANARY not in line:
                yield line.replace(read_as, written_as)

    canary = f"mkdir -p {read_as}; printf '[{section}]\\n{_CANARY}=1\\n' >{read_as}/zz-canary.conf"
    # Drop-ins are read by name, so that with the canary all has been said; some daemons would never end.
    until = f"until grep -q {_CANARY} /tmp/said || ! kill -0 $! 2>/dev/null; do sleep 0.02; done; kill -9 $!"
    return Reader(
        "systemd-analyze",
        _VERSION,
        f"export SYSTEMD_LOG_TARGET=console SYSTEMD_LOG_LEVEL=info; {canary}; {prepare}\n"
        f"{daemon} 2>/tmp/said &\n{until}; cat /tmp/said >&2; exit 0",
        complaints,
        is_one_user=is_one_user,
    )


def _modules(answer: Answer, question: Question) -> Iterator[str]:
    """There are no modules in the root: the program must miss every one that a file names, and nothing else."""
    lines = [line.split() for entry in question.entries for line in entry.text.splitlines()]
    requested = {words[0].replace("-", "_") for words in lines if words and words[0][0] not in "#;"}
    missed = {name.replace("-", "_") for name in re.findall(r"Failed to find module '([^']*)'", answer.err)}
    yield from (f"{name}: not read as a module name" for name in sorted(requested - missed))
    yield from (f"{name}: not in the file" for name in sorted(missed - requested))


def _udev(answer: Answer, _question: Question) -> list[str]:
    return [line for line in failure(answer) if "udev rules" not in line and not re.match(r"\s+(Success|Fail):", line)]


def _but(lines: Iterable[str], *beginnings: str) -> list[str]:
    return [line for line in lines if not line.startswith(beginnings)]


CHECKS = (
    Check(
        name="systemd units",
        what="systemd: units and drop-ins",
        parser="systemd-analyze verify",
        proves="systemd accepts sections, keys and values, mount units have the names of their paths, required units "
        "exist, and programs of the tree are where units expect them. Drop-ins for units of packages that are not "
        "installed are read on top of an empty unit; programs of such packages are not checked. Nothing is "
        "started.",
        reads=paths(f"{_UNITS}*"),
        ask=Reader(
            program="systemd-analyze",
            version=_VERSION,
            script='"$program" verify --man=no "$@"',
            complaints=_unit_complaints,
            notes=_unit_notes,
            stand_ins=_stand_ins,
            arguments=_units,
            whole=True,
        ),
    ),
    Check(
        name="systemd manager",
        what="systemd: settings of the service manager",
        parser="systemd",
        proves="The service manager accepts every section, key and value; read as its user settings, whose keys are"
        " the same.",
        reads=paths("/etc/systemd/system.conf.d/*"),
        ask=_settings(
            "Manager",
            "cp /etc/systemd/system.conf.d/* /etc/systemd/user.conf.d/",
            "setpriv --reuid 65534 --clear-groups env HOME=/tmp /usr/lib/systemd/systemd --test --user "
            "--unit=basic.target",
            "/etc/systemd/user.conf.d",
            "/etc/systemd/system.conf.d",
            is_one_user=False,
        ),
    ),
    Check(
        name="systemd logind",
        what="systemd: settings of logins",
        parser="systemd-logind",
        proves="logind accepts every section, key and value.",
        reads=paths("/etc/systemd/logind.conf.d/*"),
        ask=_settings(
            "Login",
            "",
            "/usr/lib/systemd/systemd-logind",
            "/etc/systemd/logind.conf.d",
            "/etc/systemd/logind.conf.d",
        ),
    ),
    Check(
        name="systemd journald",
        what="systemd: settings of the journal",
        parser="systemd-journald",
        proves="journald accepts every section, key and value.",
        reads=paths("/etc/systemd/journald.conf.d/*"),
        ask=_settings(
            "Journal",
            "mkdir -p /run/systemd/journal",
            "/usr/lib/systemd/systemd-journald",
            "/etc/systemd/journald.conf.d",
            "/etc/systemd/journald.conf.d",
        ),
    ),
    Check(
        name="systemd networkd",
        what="systemd: settings of the network manager",
        parser="systemd-networkd",
        proves="networkd accepts every section, key and value.",
        reads=paths("/etc/systemd/networkd.conf.d/*"),
        ask=_settings(
            "Network",
            "mkdir -p /run/systemd/netif/{links,leases,lldp}; chown -R systemd-network: /run/systemd/netif",
            "/usr/lib/systemd/systemd-networkd",
            "/etc/systemd/networkd.conf.d",
            "/etc/systemd/networkd.conf.d",
        ),
    ),
    Check(
        name="sysusers",
        what="systemd: accounts to create",
        parser="systemd-sysusers",
        proves="systemd can parse the lines and create the accounts, in a root with those of Debian's packages.",
        reads=paths("/etc/sysusers.d/*"),
        ask=Reader(
            "systemd-sysusers",
            _VERSION,
            '"$program" --dry-run "$@"',
            lambda answer, _: _but(any_word(answer), "Would ", "Creating "),
        ),
    ),
    Check(
        name="tmpfiles",
        what="systemd: directories to create",
        parser="systemd-tmpfiles",
        proves="systemd can parse the lines, and their owners are accounts of the tree or the root.",
        reads=paths("/etc/tmpfiles.d/*"),
        ask=Reader(
            "systemd-tmpfiles",
            _VERSION,
            "for file in /etc/sysusers.d/*.conf; do systemd-sysusers $file >/dev/null 2>&1; done; "
            '"$program" --dry-run --create "$@"',
            lambda answer, _: _but(any_word(answer), "Would "),
            since=256,  # older ones cannot only tell
            newest=True,
        ),
    ),
    Check(
        name="modules-load",
        what="kernel modules to load",
        parser="systemd-modules-load",
        proves="Every line is read as the name of a module. Whether the kernel has the module is not checked.",
        reads=paths("/etc/modules-load.d/*"),
        ask=Reader(
            "systemd-modules-load",
            _VERSION,
            'setpriv --bounding-set=-sys_module "$program" "$@"',
            _modules,
        ),
    ),
    Check(
        name="udev",
        what="rules for devices",
        parser="udevadm verify",
        proves="udev accepts keys, operators and values of every rule. They are applied to no device.",
        reads=paths("/etc/udev/rules.d/*"),
        ask=Reader("udevadm", _VERSION, '"$program" verify --resolve-names=late "$@"', _udev, since=254, newest=True),
    ),
)
