"""A failover pair: Corosync reads its file, and Pacemaker plays failures of both servers through on paper."""

from __future__ import annotations

from collections.abc import Iterator
from xml.etree import ElementTree

from clustergen.verify.check import Check, Question, Reader, any_word, paths
from clustergen.verify.programs import Answer

# The key is any text of 128 bytes; messages go where they can be read.
_COROSYNC = (
    "head -c 128 /dev/zero | tr '\\0' k >/etc/corosync/authkey; chmod 400 /etc/corosync/authkey; "
    'sed "s/to_stderr: no/to_stderr: yes/; s/to_syslog: yes/to_syslog: no/" "$1" >/tmp/corosync.conf; '
    '"$program" -t -c /tmp/corosync.conf'
)
# Both servers start, the first fails, comes back, then the second fails. Agents print their parameters.
_PACEMAKER = r"""
"$program" --xml-file "$1" -V || exit 1
cd /run/clustergen || exit 1
step() { crm_simulate --xml-file "$1" --save-output "$2" --simulate "${@:4}" >"$3" 2>&1; }
mapfile -t hosts < <(sed -n 's/.*name="pcmk_host_list" value="\([^"]*\)".*/\1/p' "$1")
step "$1" up.xml up --quorum true --node-up "${hosts[0]}" --node-up "${hosts[1]}" &&
  step up.xml failed.xml failed-1 --node-fail "${hosts[0]}" &&
  step failed.xml back.xml back --node-up "${hosts[0]}" &&
  step back.xml end.xml failed-2 --node-fail "${hosts[1]}" || exit 1
for agent in $(sed -n 's/.*provider="heartbeat" type="\([A-Za-z0-9]*\)".*/\1/p' "$1"); do
  OCF_ROOT=/usr/lib/ocf "/usr/lib/ocf/resource.d/heartbeat/$agent" meta-data >"$agent"
done
for agent in $(sed -n 's/.*class="stonith" type="\([a-z_]*\)".*/\1/p' "$1"); do
  "$agent" -o metadata >"$agent"
done
"""


def _corosync(answer: Answer, _: Question) -> Iterator[str]:
    if answer.code != 0:
        yield from (line for line in answer.err.splitlines() if "error" in line)


def _parameters(primitive: ElementTree.Element, metadata: str) -> Iterator[str]:
    """Parameters of a resource that its agent does not have."""
    parameters = {parameter.get("name") for parameter in ElementTree.fromstring(metadata).iter("parameter")}
    for pair in primitive.iterfind("instance_attributes/nvpair"):
        name = pair.get("name", "")
        if name not in parameters and not name.startswith("pcmk_"):
            yield f"{primitive.get('id')}: {primitive.get('type')} has no parameter {name}"


def _moves(text: str, failed: str, host: str, resources: list[str]) -> Iterator[str]:
    """The failed server is fenced first, then the other one starts the resources in their order."""
    expected = [f"Fencing {failed} (reboot)", *(f"{name} start on {host}" for name in resources)]
    steps = [" ".join(line.split()) for line in text.partition("Executing Cluster Transition:")[2].splitlines()]
    places = [next((i for i, step in enumerate(steps) if step.endswith(one)), -1) for one in expected]
    if -1 in places or places != sorted(places):
        yield f"when {failed} fails, the steps are not {', '.join(expected)}"


def _pacemaker(answer: Answer, question: Question) -> Iterator[str]:
    yield from any_word(answer)
    if answer.code != 0:
        return
    for entry in question.entries:
        tree = ElementTree.fromstring(entry.text)
        for primitive in tree.iter("primitive"):
            yield from _parameters(primitive, answer.notes[primitive.get("type", "")])
        names = [primitive.get("id", "") for primitive in tree.iterfind(".//group/primitive")]
        first, second = (pair.get("value", "") for pair in tree.iter("nvpair") if pair.get("name") == "pcmk_host_list")
        yield from _moves(answer.notes["failed-1"], first, second, names)
        yield from _moves(answer.notes["failed-2"], second, first, names)
        yield from (f"it moves back: {name}" for name in names if f"{name} stop" in answer.notes["back"])


CHECKS = (
    Check(
        name="corosync",
        what="NFS failover: membership",
        parser="corosync -t",
        proves="Corosync accepts sections, values and addresses, and finds its node by name. Unknown keys are not"
        " detected.",
        reads=paths("/etc/corosync/corosync.conf"),
        ask=Reader(
            "corosync", '"$program" -v | sed -n "s/.*version \'\\(.*\\)\'.*/\\1/p"', _COROSYNC, _corosync, newest=True
        ),
    ),
    Check(
        name="pacemaker",
        what="NFS failover: resources",
        parser="crm_verify and crm_simulate",
        proves="Pacemaker accepts the configuration, and each agent has the parameters. In its simulation, a failed"
        " server is fenced before the other one starts disk, server and address in this order, and nothing moves back"
        " when it returns. No agent is started.",
        reads=paths("/etc/clustergen-failover/cib.xml"),
        ask=Reader(
            "crm_verify",
            "\"$program\" --version | sed -n '1s/Pacemaker //p'",
            _PACEMAKER,
            _pacemaker,
            newest=True,
        ),
    ),
)
