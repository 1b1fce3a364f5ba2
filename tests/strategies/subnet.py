"""A net of ibsim with a real opensm and a real ibnetdiscover, in a sandbox, by a user without any rights."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from clustergen.verify import programs, sandbox
from strategies.fabric_nets import Net

_MARK = "--- further commands ---"
_SCRIPT = r"""
cd /tmp
export OSM_TMP_DIR=/tmp OSM_CACHE_DIR=/tmp SIM_HOST=$1 HOME=/tmp
mkfifo hold
sleep "$3" >hold &
ibsim -s -N "$4" -S "$5" -P "$6" /run/clustergen/net <hold >ibsim.log 2>&1 &
sim=$!
until grep -q 'simulator ready' ibsim.log; do
  kill -0 $sim 2>/dev/null || { cat ibsim.log >&2; exit 90; }
  sleep 0.02
done
timeout -k 2 "$3" ibsim-run opensm -o -R "$2" -f /tmp/log -D 0x7 >/tmp/words 2>&1
status=$?
timeout -k 2 "$3" ibsim-run ibnetdiscover >/tmp/discovered 2>>/tmp/words || status=91
while IFS= read -r command; do
  case $command in
    PerformanceSet* | Unlink*) echo "$command" >hold; sleep 0.2 ;;
    *) echo "\$ $command"; timeout -k 2 "$3" ibsim-run $command 2>&1 ;;
  esac
done </run/clustergen/commands >/tmp/printed
kill $sim
cat /tmp/log /tmp/words >&2
cat /tmp/discovered
echo "$7"
cat /tmp/printed
exit $status
"""


@dataclass(frozen=True)
class Subnet:
    """Log of opensm, and the output of ibnetdiscover afterwards."""

    log: str
    discovered: str
    printed: str
    """By further commands."""

    @property
    def is_fat_tree(self) -> bool:
        return "Fabric topology has been identified as FatTree" in self.log


def bring_up(net: Net, routing: str = "ftree,updn", seconds: int = 120, commands: Sequence[str] = ()) -> Subnet:
    """Raises AssertionError where the simulated subnet does not come up. `commands` run in it afterwards, or are
    PerformanceSet of ibsim's console.
    """
    opensm = programs.find("opensm")
    programs.find("ibsim")
    adapters = net.adapters
    counts = [len(adapters) + len(net.switches), len(net.switches), len(adapters) * 2 + sum(net.switches.values())]
    limits = [str(count + 100) for count in counts]
    done = sandbox.run(
        sandbox.Sandbox(opensm.root, is_one_user=True),
        [
            "/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups", "--bounding-set=-all",
            "/bin/bash", "-c", _SCRIPT, "bash", adapters[0], routing, str(seconds), *limits, _MARK,
        ],
        timeout=seconds * 2 + 30,
        notes={"net": net.ibsim(), "commands": "".join(f"{command}\n" for command in commands)},
    )  # fmt: skip
    assert done.code == 0, json.dumps([done.code, done.stderr[-3000:]])
    assert "SUBNET UP" in done.stderr, done.stderr[-3000:]
    discovered, _, printed = done.stdout.partition(f"{_MARK}\n")
    return Subnet(done.stderr, discovered, printed)
