"""Names, time, kernel settings, logs and network of a host, before glibc, chronyd, procps, kmod, logrotate …"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from clustergen.verify.check import Check, Question, Reader, any_word, failure, paths
from clustergen.verify.programs import Answer, NotHere

_VERSION = "$program --version | head -1"
_MOST_SIXES = 500
_CERTIFICATE = re.compile(r'^\s*tls\.(?:caCert|myCert|myPrivKey)="(/[^"]+)"', re.MULTILINE)
_OF_THE_SANDBOX = re.compile(r"cannot stat /proc/sys/\S+: No such file|setting key \"[^\"]+\": ")


def _effective(question: Question) -> Iterator[str]:
    """Lines that are neither empty nor a comment, with single blanks."""
    for entry in question.entries:
        for line in entry.text.splitlines():
            if words := line.partition("#")[0].split():
                yield " ".join(words)


def _sixes(question: Question) -> list[str]:
    """A name of every line with an IPv6 address, which getent does not list; enough of them in a large cluster."""
    return [line.split()[1] for line in _effective(question) if ":" in line.split()[0] and " " in line][:_MOST_SIXES]


def _hosts(answer: Answer, question: Question) -> Iterator[str]:
    yield from failure(answer)
    read = [line.split() for line in answer.out.splitlines()]
    sixes = [words for words in read if ":" in words[0]]
    effective = list(_effective(question))
    # The sandbox has a line of its own, and glibc lists the loopback of IPv6 as that of IPv4.
    fours = sum(":" not in line or line.startswith("::1 ") for line in effective) + 1
    if len(read) - len(sixes) != fours:
        yield f"{fours - 1} lines name hosts, but glibc reads {len(read) - len(sixes) - 1} of them"
    if len(sixes) < len(_sixes(question)):
        yield f"{len(_sixes(question))} lines have IPv6 addresses, but glibc reads {len(sixes)} of them"
    of_name: dict[str, set[str]] = {}
    for address, *names in read:
        for name in names:
            of_name.setdefault(name, set()).add(address)
    # Another address would send Slurm and Ansible to different machines.
    for host, variables in question.trial.tree.inventory.hosts.items():
        expected_address = variables.get("ansible_host")
        if expected_address and ":" not in expected_address and expected_address not in of_name.get(host, ()):
            has = " ".join(sorted(of_name.get(host, {"nothing"})))
            yield f"{host}: Ansible has {expected_address}, /etc/hosts has {has}"


def _sysctl(answer: Answer, _question: Question) -> Iterator[str]:
    if answer.code is None:
        yield "no answer in time"
    yield from (line for line in answer.err.splitlines() if line.strip() and not _OF_THE_SANDBOX.search(line))


def _not_in_kernel(_answer: Answer, question: Question) -> Iterator[str]:
    """The sandbox hides keys of the network; those that this machine lacks as well are reported."""
    keys = list(_effective(question))
    names = [key.partition("=")[0].strip().lstrip("-") for key in keys]
    absent = [name for name in names if not Path("/proc/sys", name.replace(".", "/")).exists()]
    yield f"{len(names)} keys" + (f"; this machine's kernel does not have {' '.join(absent)}" if absent else "")


def _modprobe(answer: Answer, question: Question) -> Iterator[str]:
    if word := any_word(answer):
        yield from word
        return
    shown = {" ".join(line.split()) for line in answer.out.splitlines()}
    yield from (f"not in modprobe --showconfig: {line}" for line in _effective(question) if line not in shown)


def _logrotate(answer: Answer, _question: Question) -> list[str]:
    complaints = [line for line in answer.err.splitlines() if line.startswith(("error:", "warning:"))]
    return [line for line in complaints if "in debug mode" not in line and "No such file or directory" not in line]


def _network_manager(answer: Answer, question: Question) -> Iterator[str]:
    yield from failure(answer)
    for line in answer.out.splitlines():
        if "WARNING" in line and any(target in line for target in question.targets):
            yield line.lstrip("# ")


def _mariadb(answer: Answer, _question: Question) -> list[str]:
    return [line for line in answer.err.splitlines() if "[ERROR]" in line] or failure(answer)


def _logging_node(question: Question, directory: Path) -> Iterator[tuple[Path, str]]:
    """Surroundings that rsyslogd expects on a node: the spool directory of its package, and certificates, here
    empty.
    """
    (directory / "var/spool/rsyslog").mkdir(parents=True, exist_ok=True)
    for entry in question.entries:
        for path in _CERTIFICATE.findall(entry.text):
            place = directory / path.lstrip("/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
    yield directory, "/"


def _rsyslog(answer: Answer, _question: Question) -> list[str]:
    """rsyslogd reports a rejected statement, and goes on without it."""
    harmless = re.compile(r"config validation run|running as pid 1|^\s*$")
    return [line for line in answer.err.splitlines() if not harmless.search(line)] or failure(answer)


_FIREWALLD = r"""
"$program" - "$@" <<'END'
import sys
from firewall.core.io.zone import zone_reader
for path in sys.argv[1:]:
    directory, _, name = path.rpartition("/")
    print(*zone_reader(name, directory).sources, sep="\n")
END
"""


def _firewalld(answer: Answer, question: Question) -> Iterator[str]:
    if "No module named 'firewall'" in answer.err:
        raise NotHere("python3-firewall is not installed for this Python: run clustergen setup parsers")
    if answer.code != 0:
        yield answer.lines[-1] if answer.code is None or not answer.err else answer.err.splitlines()[-1]
    sources = answer.out.split()
    for entry in question.entries:
        for source in re.findall(r'<source address="([^"]+)"', entry.text):
            if answer.code == 0 and source not in sources:
                yield f"{entry.path}: firewalld does not list {source}"


# As grub-mkconfig reads them: after /etc/default/grub, in order of their names.
_GRUB = """
set -eu
GRUB_CMDLINE_LINUX=first
for file; do . "$file"; done
printf '%s\\n' "$GRUB_CMDLINE_LINUX"
"""
_KERNEL_OPTION = re.compile(r"[A-Za-z_][\w.-]*(?:=\S+)?")


def _grub(answer: Answer, _question: Question) -> Iterator[str]:
    options = answer.out.split()
    if answer.code != 0:
        yield from failure(answer)
    elif answer.out.count("\n") != 1 or options[:1] != ["first"]:
        yield f"options that other files set are lost: {answer.out.strip()}"
    else:
        yield from (f"{option!r} is no kernel option" for option in options if not _KERNEL_OPTION.fullmatch(option))


def _kernel_line(answer: Answer, _question: Question) -> Iterator[str]:
    yield " ".join(answer.out.split()[1:])


CHECKS = (
    Check(
        "hosts",
        "host names",
        "glibc",
        "The name service reads every line and resolves every node to the address that Ansible uses.",
        paths("/etc/hosts"),
        Reader(
            "getent",
            _VERSION,
            '"$program" hosts; [ $# = 0 ] || "$program" hosts "$@" || true',
            _hosts,
            arguments=_sixes,
        ),
    ),
    Check(
        "chrony",
        "clock",
        "chronyd -p",
        "chronyd accepts every directive and its values. It contacts no server.",
        paths("/etc/chrony/*", "/etc/chrony.conf", "/etc/chrony.d/*"),
        Reader(
            "chronyd",
            _VERSION,
            'main=/etc/chrony/chrony.conf; for file; do [ "$file" != /etc/chrony.conf ] || main=$file; done; '
            '"$program" -p -f $main',
        ),
    ),
    Check(
        "sysctl",
        "kernel settings",
        "sysctl --dry-run",
        "Every line is a key and a value. Whether the node's kernel has the key is checked only for keys of this "
        "machine's kernel; values are not applied.",
        paths("/etc/sysctl.d/*"),
        Reader(
            "sysctl",
            _VERSION,
            'for file; do "$program" --dry-run -p "$file"; done',
            _sysctl,
            _not_in_kernel,
            newest=True,
        ),
    ),
    Check(
        "modprobe",
        "kernel module options",
        "modprobe --showconfig",
        "modprobe reads every line as intended. Whether the module has the option is not checked.",
        paths("/etc/modprobe.d/*"),
        Reader("modprobe", _VERSION, '"$program" --showconfig', _modprobe),
    ),
    Check(
        "kernel options",
        "kernel command line",
        "sh (for grub-mkconfig)",
        "The shell reads the file after others and only adds options. The kernel ignores unknown options.",
        paths("/etc/default/grub.d/*"),
        Reader("bash", _VERSION, _GRUB, _grub, _kernel_line),
    ),
    Check(
        "logrotate",
        "log rotation",
        "logrotate -d",
        "logrotate accepts every directive. It rotates no log.",
        paths("/etc/logrotate.d/*"),
        Reader(
            "logrotate",
            _VERSION,
            'for file; do "$program" -d "$file"; done',
            _logrotate,
            newest=True,
            is_one_user=False,  # `su` of a file
        ),
    ),
    Check(
        "rsyslog",
        "central logs",
        "rsyslogd -N1",
        "rsyslogd accepts every statement, beside the configuration of its package. It contacts no collector, and "
        "certificates are not read.",
        paths("/etc/rsyslog.d/*"),
        Reader(
            "rsyslogd",
            "$program -v | head -1",
            '"$program" -N1 -f /etc/rsyslog.conf',
            _rsyslog,
            stand_ins=_logging_node,
        ),
    ),
    Check(
        "firewalld",
        "firewalld: zones",
        "firewalld's zone reader",
        "firewalld's zone reader accepts every element, and every network is a source. Nothing is filtered.",
        paths("/etc/firewalld/zones/*"),
        Reader(
            "python3",
            "$program -c 'import firewall.config as c; print(c.VERSION)'",
            _FIREWALLD,
            _firewalld,
            newest=True,
        ),
    ),
    Check(
        "NetworkManager",
        "interfaces that NetworkManager does not manage",
        "NetworkManager --print-config",
        "NetworkManager accepts every section and key.",
        paths("/etc/NetworkManager/conf.d/*"),
        Reader("NetworkManager", _VERSION, '"$program" --print-config', _network_manager),
    ),
    Check(
        "mariadb",
        "database of slurmdbd",
        "mariadbd --help",
        "The server accepts every variable and value. It is not started with them.",
        paths("/etc/mysql/*", "/etc/my.cnf.d/*"),
        Reader(
            "mariadbd",
            "$program --version 2>/dev/null",
            'for file; do "$program" --defaults-file="$file" --user=mysql --help --verbose >/dev/null || exit 1; done',
            _mariadb,
        ),
    ),
)
