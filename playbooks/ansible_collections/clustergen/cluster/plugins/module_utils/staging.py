"""Files that are not live yet, where a parser sees them as if they were.

The directory of the files is copied, the new files are put into the copy, and the parser sees the copy in the place of
the directory, in a mount namespace of its own. Nothing that runs on the node notices, and nobody but root reaches a
copy by its path.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile

from ansible_collections.clustergen.cluster.plugins.module_utils import safe_files

SECONDS = 60
_RUN = ["timeout", "-k", "5", str(SECONDS)]
# The copy in the place of the directory, for one command.
_VIEW = 'while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit 125; shift 2; done; shift; exec "$@"'


class Staged:
    """Copies of the directories that hold `files` ([{"target", "content", "mode"}]), with those files in them.

    `place` is for what daemons write as their own user, and only root creates entries in it; `copies` is root's alone.
    """

    def __init__(self, files, removed=()):
        self.files = files
        self.removed = removed
        self.place = tempfile.mkdtemp(prefix="clustergen-trial-", dir="/run")  # 0700
        self.copies = self.place + "/copies"
        os.mkdir(self.copies, 0o700)
        os.chmod(self.place, 0o711)
        self._made = {}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.place, ignore_errors=True)

    def directory(self, real):
        """The copy of one directory, made when it is first asked for."""
        if real not in self._made:
            copy = self.copies + real
            os.makedirs(os.path.dirname(copy), exist_ok=True)
            if os.path.isdir(real):
                safe_files.copy_tree(real, copy)
            else:
                os.mkdir(copy)
            for file in self.files:
                if file["target"].startswith(real + "/"):
                    write(self._inside(real, file["target"]), file)
            for target in self.removed:
                if target.startswith(real + "/"):
                    place = self._inside(real, target)
                    if os.path.lexists(place):
                        os.unlink(place)
            self._made[real] = copy
        return self._made[real]

    def _inside(self, real, target):
        """The path of `target` in the copy of `real`. A linked directory on the way becomes a copy: the link leads to live files."""
        live, copy = real, self.copies + real
        for name in target[len(real) + 1 :].split("/")[:-1]:
            live, copy = live + "/" + name, copy + "/" + name
            if os.path.islink(copy):
                os.unlink(copy)
                if os.path.isdir(live):
                    safe_files.copy_tree(live, copy)
            if not os.path.isdir(copy):
                os.mkdir(copy)
        return copy + "/" + os.path.basename(target)

    def see(self, module, directories, command, extra=()):
        """Runs `command` with the copies of `directories` in their place; (exit status, output)."""
        pairs = []
        for directory in directories:
            if os.path.isdir(directory):
                pairs += [self.directory(directory), directory]
        wrapped = ["unshare", "--mount", "--propagation", "private", *extra, "sh", "-c", _VIEW, "sh", *pairs, "--"]
        code, out, err = module.run_command([*_RUN, *wrapped, *command])
        return code, out + err


def write(place, file):
    """Puts one new file into a copy; a link in its place goes, as it does when the file becomes live."""
    if os.path.lexists(place):
        os.unlink(place)
    safe_files.create(place, file["content"], int(file["mode"], 8), file.get("ids"))


def words(output, most=4):
    """The lines of a parser's output that say what is wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    wrong = [line for line in lines if re.search(r"fatal|error|FAILED|invalid|Could not|bad |Bad |line \d+", line)]
    cleaned = [re.sub(r"^(\[?[\d:T.-]+\]?|slurm\w+:)\s*", "", line) for line in (wrong or lines)]
    return "; ".join(list(dict.fromkeys(cleaned))[:most]) or "no words"
