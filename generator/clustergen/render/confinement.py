"""Takes from the current process what computing a text does not require: files, network, other processes, privileges.

The lock is a filter of system calls, which needs no namespaces and no privileges, so that it holds in containers as
well. Limits and, for root, another user are below it, should the kernel have no such filters.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys
from contextlib import suppress

_NOBODY = 65534
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE, _PR_SET_SECCOMP, _PR_SET_NO_NEW_PRIVS = 1, 4, 22, 38
_FILTER = 2  # SECCOMP_MODE_FILTER
_LOAD, _JUMP_IF_EQUAL, _RETURN = 0x20, 0x15, 0x06
_NUMBER, _ARCHITECTURE = 0, 4  # offsets in the kernel's struct seccomp_data
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050001  # with EPERM

# What is left: writing to the pipe, memory, the own timers and their signals, and the end. In this order: write mmap
# mprotect munmap brk rt_sigprocmask rt_sigreturn mremap madvise setitimer exit futex clock_gettime exit_group
_X86_64 = (0xC000003E, (1, 9, 10, 11, 12, 14, 15, 25, 28, 38, 60, 202, 228, 231))
_AARCH64 = (0xC00000B7, (64, 222, 226, 215, 214, 135, 139, 216, 233, 103, 93, 98, 113, 94))
SYSTEM_CALLS = {"x86_64": _X86_64, "aarch64": _AARCH64}
"""Architecture → how the kernel calls it, and the numbers of the calls that are left."""


class _Instruction(ctypes.Structure):
    _fields_ = (("code", ctypes.c_uint16), ("yes", ctypes.c_uint8), ("no", ctypes.c_uint8), ("value", ctypes.c_uint32))


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_uint16), ("first", ctypes.POINTER(_Instruction)))


def confine(kept: int, memory: int, seconds: int) -> str:
    """Leaves the process one descriptor, so many bytes of memory beyond what it has, and seconds of CPU time.

    Returns why the kernel refused the filter of system calls, and an empty text where it did not. Modules that were
    not imported before cannot be imported any more.
    """
    used = _virtual_memory()
    os.environ.clear()  # a CI job has its tokens there
    for descriptor in _descriptors():
        if descriptor != kept:
            with suppress(OSError):
                os.close(descriptor)
    if os.geteuid() == 0:
        with suppress(OSError):  # a container's root may have no right to it
            os.setgroups([])
            os.setresgid(_NOBODY, _NOBODY, _NOBODY)
            os.setresuid(_NOBODY, _NOBODY, _NOBODY)
    _limit(resource.RLIMIT_AS, used + memory)
    _limit(resource.RLIMIT_CPU, seconds)
    for kind in (resource.RLIMIT_NOFILE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC, resource.RLIMIT_CORE):
        _limit(kind, 0)
    return _filter_system_calls()


def _virtual_memory() -> int:
    with open("/proc/self/statm", encoding="ascii") as status:  # noqa: PTH123 - the child loads no more than it needs
        return int(status.read().split()[0]) * resource.getpagesize()


def _descriptors() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc/self/fd")]  # noqa: PTH208
    except OSError:
        return list(range(1 << 16))


def _limit(kind: int, value: int) -> None:
    hard = resource.getrlimit(kind)[1]
    if hard != resource.RLIM_INFINITY:
        value = min(value, hard)
    resource.setrlimit(kind, (value, value))


def _filter_system_calls() -> str:
    architecture = os.uname().machine if sys.maxsize > 1 << 32 else "a process of 32 bits"
    if architecture not in SYSTEM_CALLS:
        return f"clustergen has no filter for {architecture}"
    libc = ctypes.CDLL(None, use_errno=True)
    libc.prctl.argtypes = (ctypes.c_int, ctypes.c_ulong, ctypes.c_void_p, ctypes.c_ulong, ctypes.c_ulong)
    libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, None, 0, 0)
    libc.prctl(_PR_SET_DUMPABLE, 0, None, 0, 0)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, None, 0, 0)
    instructions = [_Instruction(*one) for one in _program(*SYSTEM_CALLS[architecture])]
    program = _Program(len(instructions), (_Instruction * len(instructions))(*instructions))
    if libc.prctl(_PR_SET_SECCOMP, _FILTER, ctypes.byref(program), 0, 0):
        return os.strerror(ctypes.get_errno())
    return ""


def _program(architecture: int, allowed: tuple[int, ...]) -> list[tuple[int, int, int, int]]:
    """The filter: a call of this architecture whose number is among the allowed ones passes, all others fail."""
    refuse = len(allowed) + 1  # instructions from the first test of a number to the refusal, which precedes the end
    return [
        (_LOAD, 0, 0, _ARCHITECTURE),
        (_JUMP_IF_EQUAL, 0, refuse, architecture),
        (_LOAD, 0, 0, _NUMBER),
        *((_JUMP_IF_EQUAL, len(allowed) - index, 0, number) for index, number in enumerate(allowed)),
        (_RETURN, 0, 0, _REFUSE),
        (_RETURN, 0, 0, _ALLOW),
    ]
