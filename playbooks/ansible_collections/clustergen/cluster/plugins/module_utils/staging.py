"""Files that are not live yet, where a parser sees them as if they were.

The folder of the files is copied, the new files are put into the copy, and the parser sees the copy in the place of the
folder, in a mount namespace of its own. Nothing that runs on the node notices.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile

SECONDS = 60
_RUN = ["timeout", "-k", "5", str(SECONDS)]
# The copy in the place of the folder, for one command.
_VIEW = 'while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 125; shift 2; done; shift; exec "$@"'


class Staged:
    """Copies of the folders that hold `files` ([{"target", "content"}]), with those files in them."""

    def __init__(self, files, removed=()):
        self.files = files
        self.removed = removed
        self.place = tempfile.mkdtemp(prefix="clustergen-trial-", dir="/run")
        os.chmod(self.place, 0o711)  # daemons read it as their own user; the copies keep their modes
        self.copies = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.place, ignore_errors=True)

    def folder(self, real):
        """The copy of one folder, made when it is first asked for."""
        if real not in self.copies:
            copy = self.place + real
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            if os.path.isdir(real):
                shutil.copytree(real, copy, symlinks=True, ignore_dangling_symlinks=True, copy_function=_copy)
                _own_like(real, copy)
            else:
                os.makedirs(copy)
            for file in self.files:
                if file["target"].startswith(real + "/"):
                    write(copy + file["target"][len(real) :], file)
            for target in self.removed:
                if target.startswith(real + "/") and os.path.exists(copy + target[len(real) :]):
                    os.unlink(copy + target[len(real) :])
            self.copies[real] = copy
        return self.copies[real]

    def see(self, module, folders, command, extra=()):
        """Runs `command` with the copies of `folders` in their place; (exit status, output)."""
        pairs = []
        for folder in folders:
            if os.path.isdir(folder):
                pairs += [self.folder(folder), folder]
        wrapped = ["unshare", "--mount", "--propagation", "private", *extra, "sh", "-c", _VIEW, "sh", *pairs, "--"]
        code, out, err = module.run_command([*_RUN, *wrapped, *command])
        return code, out + err


def _copy(source, target):
    shutil.copy2(source, target)
    found = os.stat(source)
    os.chown(target, found.st_uid, found.st_gid)
    return target


def _own_like(real, copy):
    for root, folders, _ in os.walk(real):
        for name in ["", *folders]:
            source = os.path.join(root, name) if name else root
            target = copy + source[len(real) :]
            if os.path.isdir(target) and not os.path.islink(target):
                found = os.stat(source)
                os.chown(target, found.st_uid, found.st_gid)


def write(place, file):
    os.makedirs(os.path.dirname(place), exist_ok=True)
    with open(place, "wb") as opened:
        opened.write(file["content"])
    os.chmod(place, int(file["mode"], 8))
    if file.get("ids"):
        os.chown(place, *file["ids"])


def words(output, most=4):
    """The lines of a parser's output that say what is wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    wrong = [line for line in lines if re.search(r"fatal|error|FAILED|invalid|Could not|bad |Bad |line \d+", line)]
    cleaned = [re.sub(r"^(\[?[\d:T.-]+\]?|slurm\w+:)\s*", "", line) for line in (wrong or lines)]
    return "; ".join(list(dict.fromkeys(cleaned))[:most]) or "no words"
