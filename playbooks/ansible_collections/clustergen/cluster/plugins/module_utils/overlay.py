"""Files of the tree on this node: what differs, and putting it in place, each file in one atomic step."""

from __future__ import annotations

import base64
import errno
import grp
import hashlib
import os
import pwd
import stat
import tempfile
import zlib

from ansible_collections.clustergen.cluster.plugins.module_utils import safe_files

MOST_SHOWN = 256 * 1024  # bytes of an old file that are sent back


def pack(content):
    return base64.b64encode(zlib.compress(content)).decode("ascii")


def unpack(text):
    return zlib.decompress(base64.b64decode(text))


def owner_ids(owner):
    """ "user:group" → numbers; None for a name that this node does not know yet."""
    user, _, group = owner.partition(":")
    try:
        return pwd.getpwnam(user).pw_uid, grp.getgrnam(group or user).gr_gid
    except KeyError:
        return None


def owner_name(status):
    """ "user:group" of what stat says; numbers where nobody has them."""
    try:
        user = pwd.getpwuid(status.st_uid).pw_name
    except KeyError:
        user = str(status.st_uid)
    try:
        group = grp.getgrgid(status.st_gid).gr_name
    except KeyError:
        group = str(status.st_gid)
    return user + ":" + group


def difference(expected):
    """What is not as wanted: a subset of content, mode, owner; the old content, and mode and owner as they are now."""
    target = expected["target"]
    try:
        status = os.lstat(target)
    except OSError as err:
        if err.errno in (errno.ENOENT, errno.ENOTDIR):
            return ["content"], None, {}
        raise
    what = []
    before = None
    if not stat.S_ISREG(status.st_mode):
        return ["content"], None, {}
    with os.fdopen(safe_files.open_regular(target), "rb") as file:
        content = file.read()
    if hashlib.sha256(content).hexdigest() != expected["sha256"]:
        what.append("content")
        before = content
    if stat.S_IMODE(status.st_mode) != int(expected["mode"], 8):
        what.append("mode")
    if owner_ids(expected["owner"]) != (status.st_uid, status.st_gid):
        what.append("owner")
    return what, before, {"mode": f"{stat.S_IMODE(status.st_mode):04o}", "owner": owner_name(status)}


def differences(expected, is_shown=True):
    """The files that are not as wanted, each with `what` and, for content, `before` (packed, None where it is new or not shown)."""
    changed = []
    for file in expected:
        what, before, after = difference(file)
        if what:
            shown = is_shown and before is not None and len(before) <= MOST_SHOWN
            changed.append(
                {
                    "target": file["target"],
                    "what": what,
                    "now": after,
                    "there": before is not None or "content" not in what,
                    "before": pack(before) if shown else None,
                }
            )
    return changed


def make_parents(directory):
    """Creates a directory and its parents with mode 0755, also with the narrow umask of a hardened root."""
    if os.path.isdir(directory):
        return
    make_parents(os.path.dirname(directory))
    os.mkdir(directory)
    os.chmod(directory, 0o755)


def put(module, file, content):
    """Replaces one file. It is whole at every moment, with its owner and mode from the first on."""
    target = file["target"]
    directory = os.path.dirname(target)
    if os.path.isdir(target) and not os.path.islink(target):
        raise IsADirectoryError(errno.EISDIR, "a directory is in the place of this file", target)
    make_parents(directory)
    ids = owner_ids(file["owner"])
    if ids is None:
        raise LookupError("no account " + file["owner"] + " for " + target)
    if content is None:  # only its mode or owner
        descriptor = safe_files.open_regular(target)
        try:
            os.fchown(descriptor, *ids)
            os.fchmod(descriptor, int(file["mode"], 8))
        finally:
            os.close(descriptor)
        return
    handle, beside = tempfile.mkstemp(prefix=".clustergen-", dir=directory)
    try:
        with os.fdopen(handle, "wb") as opened:
            opened.write(content)
            opened.flush()
            os.fchown(opened.fileno(), *ids)
            os.fchmod(opened.fileno(), int(file["mode"], 8))
            os.fsync(opened.fileno())
        if module.selinux_enabled():
            module.set_context_if_different(beside, module.selinux_default_context(target), False)
        os.replace(beside, target)
    except BaseException:
        if os.path.exists(beside):
            os.unlink(beside)
        raise


def remove(target):
    """Removes a file of an earlier tree, and the directories that became empty below one that every system has."""
    try:
        os.unlink(target)
    except FileNotFoundError:
        return False
    directory = os.path.dirname(target)
    while directory.endswith(".d") or "clustergen" in os.path.basename(directory):
        try:
            os.rmdir(directory)
        except OSError:
            break
        directory = os.path.dirname(directory)
    return True
