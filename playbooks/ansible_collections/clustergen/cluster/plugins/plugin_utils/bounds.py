"""How much of the control host's memory the answer of a node may take.

Ansible's connection by ssh reads all that a node prints before anybody can look at it. Each host is asked in a process of
its own, so that process gets a limit of memory before it reads, and an answer gets a limit of bytes: a node that floods
the control host fails alone. Other kinds of connection (`local`, containers) are not bounded: what they start would
inherit the limit.
"""

from __future__ import annotations

import contextlib
import functools
import resource
from pathlib import Path

from ansible.errors import AnsibleError
from ansible.plugins.connection.ssh import Connection

MEMORY = 64 << 20  # bytes beyond what the process has when it begins to read
MAX_ANSWER = 2 << 20  # bytes that a module of Ansible may answer
MAX_OWN_ANSWER = 8 << 20  # those of this collection, which send old files and are checked before anything is kept
_most = [MAX_ANSWER]


def install():
    """Bounds what is read by ssh from now on. It can be called more than once."""
    if not hasattr(Connection.exec_command, "bounded"):
        Connection.exec_command = _bounded(Connection.exec_command)


def _bounded(read):
    @functools.wraps(read)
    def exec_command(self, *arguments, **named):
        _limit()
        try:
            code, out, err = read(self, *arguments, **named)
        except MemoryError:
            raise AnsibleError(f"it answered with more than {MEMORY >> 20} MiB, which were not read") from None
        if len(out) + len(err) > _most[0]:
            raise AnsibleError(f"it answered with {(len(out) + len(err)) >> 20} MiB, more than {_most[0] >> 20}")
        return code, out, err

    exec_command.bounded = True
    return exec_command


@contextlib.contextmanager
def own_module():
    """For the answer of a module of this collection. The limit of memory ends with it: what is made of it is our own."""
    before = resource.getrlimit(resource.RLIMIT_AS)
    _most[0] = MAX_OWN_ANSWER
    try:
        yield
    finally:
        _most[0] = MAX_ANSWER
        resource.setrlimit(resource.RLIMIT_AS, before)


def _limit():
    """Lowers the soft limit of this process, unless it has one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if soft == resource.RLIM_INFINITY and (size := _size()):
        resource.setrlimit(resource.RLIMIT_AS, (size + MEMORY, hard))


def _size():
    try:
        pages = Path("/proc/self/statm").read_text(encoding="ascii").split()[0]
    except OSError:  # a control host without /proc, such as macOS
        return 0
    return int(pages) * resource.getpagesize()
