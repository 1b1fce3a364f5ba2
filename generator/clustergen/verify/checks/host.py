"""Kernel modules, boot options, log rotation and the database of a host, before kmod, a shell, logrotate …"""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.verify.check import PROGRAM_VERSION, Check, Question, Reader, any_word, effective_lines, failure, paths
from clustergen.verify.programs import Answer


def _modprobe(answer: Answer, question: Question) -> Iterator[str]:
    if word := any_word(answer):
        yield from word
        return
    shown = {" ".join(line.split()) for line in answer.out.splitlines()}
    yield from (f"not in modprobe --showconfig: {line}" for line in effective_lines(question) if line not in shown)


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
        name="modprobe",
        what="kernel module options",
        parser="modprobe --showconfig",
        proves="modprobe reads every line as intended. Whether the module has the option is not checked.",
        reads=paths("/etc/modprobe.d/*"),
        ask=Reader("modprobe", PROGRAM_VERSION, '"$program" --showconfig', _modprobe),
    ),
    Check(
        name="kernel options",
        what="kernel command line",
        parser="sh (for grub-mkconfig)",
        proves="The shell reads the file after others and only adds options. The kernel ignores unknown options.",
        reads=paths("/etc/default/grub.d/*"),
        ask=Reader("bash", PROGRAM_VERSION, _GRUB, _grub, _kernel_line),
    ),
    Check(
        name="logrotate",
        what="log rotation",
        parser="logrotate -d",
        proves="logrotate accepts every directive. It rotates no log.",
        reads=paths("/etc/logrotate.d/*"),
        ask=Reader(
            "logrotate",
            PROGRAM_VERSION,
            'for file; do "$program" -d "$file"; done',
            _logrotate,
            newest=True,
            is_one_user=False,  # `su` of a file
        ),
    ),
    Check(
        name="NetworkManager",
        what="interfaces that NetworkManager does not manage",
        parser="NetworkManager --print-config",
        proves="NetworkManager accepts every section and key.",
        reads=paths("/etc/NetworkManager/conf.d/*"),
        ask=Reader("NetworkManager", PROGRAM_VERSION, '"$program" --print-config', _network_manager),
    ),
    Check(
        name="mariadb",
        what="database of slurmdbd",
        parser="mariadbd --help",
        proves="The server accepts every variable and value. It is not started with them.",
        reads=paths("/etc/mysql/*", "/etc/my.cnf.d/*"),
        ask=Reader(
            "mariadbd",
            "$program --version 2>/dev/null",
            'for file; do "$program" --defaults-file="$file" --user=mysql --help --verbose >/dev/null || exit 1; done',
            _mariadb,
        ),
    ),
)
