"""Cloud images: cloud-init reads our settings beside those of its package, and does what it does at every boot."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from clustergen.verify.check import Check, Reader, Trial, failure, paths
from clustergen.verify.files import Entry
from clustergen.verify.programs import NotHere, ask, find
from clustergen.verify.rows import Row

# A tenth of the time of `cloud-init --version`.
VERSION = 'python3 -c "from cloudinit.version import version_string; print(version_string())"'

# Commands of cloud-init, separated by --, up to the first that fails: its modules are imported once, two thirds of the
# time of a command, and each command has a process of its own.
COMMANDS = r"""
say() { "$@" >/tmp/said 2>&1 || { cat /tmp/said >&2; exit 1; }; }
cloud_init() {
  say python3 - "$@" <<'PYTHON'
import itertools, os, sys
from cloudinit.cmd.main import main
for is_end, words in itertools.groupby(sys.argv[1:], "--".__eq__):
    if not is_end:
        command = ["cloud-init", *words]
        if not (child := os.fork()):
            sys.argv = command
            sys.exit(main())
        if status := os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            sys.exit(f"{' '.join(command)}: exit status {status}")
PYTHON
}
"""

# The schema command asks for the first line of user data. The module runs without the data of a cloud that this machine
# may be in.
_SETTINGS = r"""
{ echo '#cloud-config'; cat "$1"; } >/tmp/config
[ ! -e /var/lib/cloud ] || mv /var/lib/cloud /tmp/cloud
cp /etc/hosts /tmp/hosts
cloud_init schema --config-file /tmp/config -- single --name update_etc_hosts --frequency always
cmp -s /tmp/hosts /etc/hosts || { echo "cloud-init rewrites /etc/hosts" >&2; exit 1; }
"""

# Its own module writes the files, which then have to be those of the tree.
_USER_DATA = r"""
[ ! -e /var/lib/cloud ] || mv /var/lib/cloud /tmp/cloud
rm -rf /etc/clustergen /usr/local/sbin/clustergen-pull /etc/systemd/system/clustergen-pull.*
file=/srv/user-data/file
cloud_init schema --config-file $file -- single --name write_files --frequency always --file $file
cd /srv/user-data/files && find . -type f | while read -r file; do
  cmp "$file" "/$file" && [ "$(stat -c %a "$file")" = "$(stat -c %a "/$file")" ] || { echo "$file differs"; exit 1; }
done >&2
"""


_PROGRAM = "/usr/local/sbin/clustergen-pull"


def _user_data(check: Check, trial: Trial, entries: Sequence[Entry]) -> Iterator[Row]:
    for entry in entries:
        system = re.sub(r"[-.]", "_", entry.path.rpartition("/")[2].removesuffix(".yaml"))
        directory = trial.scratch / "user-data" / system
        (directory / "files").mkdir(parents=True)
        node = next(
            (node for node in trial.nodes if f"{system}_".startswith(f"{node.system}_") and _PROGRAM in node.files),
            None,
        )
        for target, other in node.files.items() if node else ():
            if other.source.startswith("templates/pull_node/"):
                place = directory / "files" / target.lstrip("/")
                other.write(place)
                place.chmod(other.mode)
        (directory / "file").write_bytes(entry.content)
        try:
            program = find("cloud-init")
            answer = ask(program, COMMANDS + _USER_DATA, version=VERSION, stand_ins=[(directory, "/srv/user-data")])
        except NotHere as reason:
            yield check.row("not run", [entry], [str(reason)])
            continue
        complaints = failure(answer) if node else ["no node of the tree has this system and pulls"]
        yield check.judged([entry], complaints, (), answer.version)


COMPONENT = "host"
CHECKS = (
    Check(
        name="cloud-init",
        what="cloud images",
        parser="cloud-init",
        proves="cloud-init's schema has every key and value, and its module for /etc/hosts leaves the file alone with"
        " them. User data of a cloud win over this file.",
        reads=paths("/etc/cloud/cloud.cfg.d/99-clustergen.cfg"),
        ask=Reader("cloud-init", VERSION, COMMANDS + _SETTINGS, newest=True),
    ),
    Check(
        name="cloud-init user data",
        what="first boot of nodes that pull",
        parser="cloud-init",
        proves="cloud-init's schema has every key and value, and its module writes the files as they are in the tree.",
        reads=paths("cloud-init/*.yaml"),
        ask=_user_data,
    ),
)
