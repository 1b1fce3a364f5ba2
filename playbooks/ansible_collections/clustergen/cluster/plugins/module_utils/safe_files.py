"""Files that root reads, copies and creates without trusting who else can write there.

Copies never have a wider mode than their source, links are never followed, and what belongs to an account of the
node is read as that account.
"""

from __future__ import annotations

import contextlib
import errno
import grp
import json
import os
import pwd
import stat

JSON_LIMIT = 64000000  # characters
MAX_COPIED = 64 << 20  # bytes of one file; parsers read no larger ones, and /run is memory


def open_regular(path, dir_fd=None):
    """A descriptor to read one regular file. Raises OSError for links, pipes, devices and directories, without waiting."""
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOFOLLOW
    descriptor = os.open(path, flags, dir_fd=dir_fd)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a regular file", path)
    return descriptor


def read_text(path, limit, start=0):
    """At most `limit` bytes from `start` on, as text; empty where there is no such regular file."""
    try:
        with os.fdopen(open_regular(path), "rb") as file:
            file.seek(start)
            return file.read(limit).decode("utf-8", "replace")
    except OSError:
        return ""


def read_json(path, default=None):
    """A file that an earlier run wrote; `default` where it is missing or damaged."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.loads(file.read(JSON_LIMIT))
    except (OSError, ValueError):
        return default


def create(path, content, mode, ids=None, dir_fd=None):
    """Creates a file that only root can open until owner and mode are final. Raises FileExistsError."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(path, flags, 0o600, dir_fd=dir_fd), "wb") as file:
        file.write(content)
        file.flush()
        if ids:
            os.fchown(file.fileno(), *ids)
        os.fchmod(file.fileno(), mode)


def copy_tree(source, target):
    """Copies a directory with owners, modes and access lists. Links stay links; pipes, sockets and devices are left out."""
    os.mkdir(target, 0o700)
    with _directory(source, follow=True) as reading, _directory(target) as writing:
        _copy_entries(reading, writing)


@contextlib.contextmanager
def _directory(path, dir_fd=None, follow=False):
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(path, flags, dir_fd=dir_fd)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _copy_entries(source, target):
    for name in sorted(os.listdir(source)):
        try:
            mode = os.stat(name, dir_fd=source, follow_symlinks=False).st_mode
            if stat.S_ISLNK(mode):
                os.symlink(os.readlink(name, dir_fd=source), name, dir_fd=target)
            elif stat.S_ISDIR(mode):
                with _directory(name, source) as reading:
                    os.mkdir(name, 0o700, dir_fd=target)
                    with _directory(name, target) as writing:
                        _copy_entries(reading, writing)
            elif stat.S_ISREG(mode):
                copy_file(name, source, target)
        except OSError as err:
            # Removed, or exchanged for a link, since it was listed.
            if err.errno not in (errno.ENOENT, errno.ELOOP, errno.ENOTDIR, errno.EINVAL):
                raise
    _copy_status(source, target)


def copy_file(name, source, target):
    """Copies one regular file from the directory `source` to the directory `target`, both open; larger ones are left out."""
    reading = open_regular(name, source)
    try:
        if os.fstat(reading).st_size > MAX_COPIED:
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        writing = os.open(name, flags, 0o600, dir_fd=target)
        try:
            left = MAX_COPIED
            while left > 0:
                block = os.read(reading, min(left, 1 << 20))
                if not block:
                    break
                left -= len(block)
                while block:
                    block = block[os.write(writing, block) :]
            _copy_status(reading, writing)
        finally:
            os.close(writing)
    finally:
        os.close(reading)


def _copy_status(source, target):
    """Owner, access list and mode of one open file for another: the mode comes last, when the owner is final."""
    status = os.fstat(source)
    mode = stat.S_IMODE(status.st_mode)
    os.fchown(target, status.st_uid, status.st_gid)
    try:
        for name in os.listxattr(source):
            os.setxattr(target, name, os.getxattr(source, name))
    except OSError as err:
        if err.errno not in (errno.ENOTSUP, errno.ENODATA, errno.EINVAL, errno.EPERM):
            raise
        with contextlib.suppress(OSError):
            if "system.posix_acl_access" in os.listxattr(source):
                mode &= ~0o070  # these bits are the mask of a list that the copy does not have
    os.fchmod(target, mode)


def account(name):
    """The passwd entry of an account by name or number. Raises KeyError."""
    return pwd.getpwuid(int(name)) if name.isdigit() else pwd.getpwnam(name)


def as_user(entry, function):
    """Runs `function` in a child process with the rights of a passwd entry. Raises OSError with what went wrong there."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        status = 1
        try:
            os.close(reading)
            if os.geteuid() == 0 and entry.pw_uid:
                os.setgroups([group.gr_gid for group in grp.getgrall() if entry.pw_name in group.gr_mem])
                os.setgid(entry.pw_gid)
                os.setuid(entry.pw_uid)
            os.umask(0o077)
            function()
            status = 0
        except BaseException as err:  # noqa: BLE001  # nothing of the parent may run in the child
            os.write(writing, str(err).encode("utf-8", "replace")[:4096])
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as file:
        words = file.read(4096).decode("utf-8", "replace")
    _, status = os.waitpid(child, 0)
    if status:
        raise OSError(errno.EIO, words or "ended with status %d" % status, entry.pw_name)


def reason_of(error):
    """The system's reason as the end of a sentence, which it begins with a capital: `no space left on device`."""
    text = error.strerror or str(error)
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]
