"""Files of the tree on this node: what differs, and putting it in place, each file in one atomic step."""

from __future__ import annotations

import base64
import errno
import grp
import hashlib
import os
import pwd
import shutil
import stat
import zlib

from ansible_collections.clustergen.cluster.plugins.module_utils import journal, safe_files, safe_write

ORIGINALS = journal.DIRECTORY + "/originals"
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
    """The differences: a subset of content, mode, owner; the old content, and mode and owner as they are now."""
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
    os.close(safe_write.open_directory(directory, create=True))


def content_in_place(file):
    """The content of a file of which only mode or owner differ. Raises OSError where it is another by now."""
    with os.fdopen(safe_files.open_regular(file["target"]), "rb") as opened:
        content = opened.read()
    if hashlib.sha256(content).hexdigest() != file["sha256"]:
        raise OSError(errno.EAGAIN, "the file was changed during this run, run the playbook again", file["target"])
    return content


def put(module, file, content):
    """Replaces one file. It is whole at every moment, with its owner and mode from the first on."""
    target = file["target"]
    ids, mode = owner_ids(file["owner"]), int(file["mode"], 8)
    if ids is None:
        raise LookupError("no account " + file["owner"] + " for " + target)
    make_parents(os.path.dirname(target))

    def label(path):
        module.set_context_if_different(path, module.selinux_default_context(target), False)

    try:
        safe_write.replace(target, content, mode, ids, sync=True, label=label if module.selinux_enabled() else None)
    except IsADirectoryError as err:
        raise IsADirectoryError(err.errno, "a directory is in the place of this file", target) from None


def keep_originals(module, targets):
    """Copies the files of packages that are about to be replaced by those of a tree; `remove` puts them back."""
    present = [target for target in targets if os.path.isfile(target) and not os.path.islink(target)]
    for target in _of_packages(module, present):
        place = ORIGINALS + target
        if not os.path.exists(place):
            os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
            shutil.copy2(target, place + ".new")
            status = os.stat(target)
            os.chown(place + ".new", status.st_uid, status.st_gid)
            os.rename(place + ".new", place)


def _of_packages(module, targets):
    if not targets:
        return []
    if shutil.which("dpkg-query"):
        _, out, _ = module.run_command(["dpkg-query", "-S", *targets])
        listed = {line.rpartition(": ")[2] for line in out.splitlines()}
        return [target for target in targets if target in listed]
    return [target for target in targets if module.run_command(["rpm", "-qf", target])[0] == 0]


def _restore(target):
    """True if the original of a file is back."""
    try:
        with open(ORIGINALS + target, "rb") as file:
            content, status = file.read(), os.fstat(file.fileno())
    except OSError:
        return False
    safe_write.replace(target, content, stat.S_IMODE(status.st_mode), (status.st_uid, status.st_gid), sync=True)
    os.unlink(ORIGINALS + target)
    return True


def remove(target):
    """Removes a file of an earlier tree, and the directories that became empty below one that every system has. What a
    package had in its place is put back.
    """
    if _restore(target):
        return True
    try:
        safe_write.remove(target)
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
