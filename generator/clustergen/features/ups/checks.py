"""Files of NUT before its daemons, completed by clustergen-ups as on the node, with passwords for the trial."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from clustergen.features.ups.needs import SECRETS
from clustergen.verify.check import Check, Question, Reader, failure, paths
from clustergen.verify.programs import Answer

_SETTINGS = "/etc/clustergen/ups.json"
_REFUSED = re.compile(r"invalid directive|Unrecognized|not a valid|Bad |[Ff]atal|insufficient|DENIED|unavailable")
_SCRIPT = r"""
directory=$(sed -n 's/.*"directory": "\(.*\)".*/\1/p' /etc/clustergen/ups.json)
export NUT_CONFPATH=$directory
umask 027
mkdir -p "$directory" /run/nut
python3 /usr/local/sbin/clustergen-ups configure || exit
if [ -e /etc/clustergen/nut/upsd.users ]; then
  { timeout 60 /usr/lib/nut/upsd -F -u root & } 2>&1
  for _ in {1..300}; do names=$(upsc -l localhost:"$1" 2>/dev/null) && break; sleep 0.1; done
  echo "upsd: $(sort <<<"$names" | paste -sd ' ')"
  for ups in $names; do # reads its section, and then asks the UPS, which is not there
    driver=$(sed -n "/^\[$ups\]/,/driver/s/.*driver = //p" "$directory/ups.conf")
    timeout 1 "/usr/lib/nut/$driver" -a "$ups" -u root 2>&1 | grep -E 'not a valid|Bad |missing' || true
  done
  UPSNAME=none NOTIFYTYPE=COMMOK timeout 5 upssched 2>&1
fi
if python3 /usr/local/sbin/clustergen-ups is-fed; then
  for seconds in 1 4 20; do # on a busy machine, it may not have read its file when it has to end
    monitored=$(timeout --preserve-status $seconds /usr/lib/nut/upsmon -F 2>&1)
    ! grep -q '^UPS: ' <<<"$monitored" || break
  done
  echo "$monitored"
fi
exit 0
"""


def _passwords(_: Question, directory: Path) -> Iterator[tuple[Path, str]]:
    for name in ("primary", "secondary", "community", "authentication", "privacy"):
        place = directory / SECRETS.lstrip("/") / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(f"{name}-password", encoding="ascii")
    yield directory, "/"


def _values(question: Question) -> dict[str, object]:
    values: dict[str, object] = json.loads(question.node.files[_SETTINGS].text)
    return values


def _refused(answer: Answer, question: Question) -> Iterator[str]:
    """Daemons that go on without a line that they do not know, and the UPS that the server and the node know."""
    yield from failure(answer)
    yield from (line for line in answer.lines if _REFUSED.search(line))
    feeds = _values(question)["feeds"]
    assert isinstance(feeds, dict)
    is_server = any(target.endswith("upsd.users") for target in question.targets)
    if is_server and f"upsd: {' '.join(sorted(feeds))}" not in answer.lines:
        yield f"upsd does not know {' '.join(feeds)}"
    host = question.node.hosts[0]
    for ups in (ups for ups, hosts in feeds.items() if host in hosts):
        if not any(line.startswith(f"UPS: {ups}@") for line in answer.lines):
            yield f"upsmon does not ask {ups}"


COMPONENT = "host"
CHECKS = (
    Check(
        name="NUT",
        what="shutdown by a UPS",
        parser="upsd",
        proves="clustergen-ups completes the files; upsd knows each UPS, drivers accept their settings, upssched"
        " accepts each line and upsmon asks the UPS of the node. No UPS answers.",
        reads=paths(f"{SECRETS}/*.conf", f"{SECRETS}/*.users"),
        ask=Reader(
            "upsmon",
            "dpkg-query -W -f '${Version}' nut-client",
            _SCRIPT,
            _refused,
            stand_ins=_passwords,
            arguments=lambda question: (str(_values(question)["port"]),),
            newest=True,
        ),
    ),
)
