"""opensm reads its files, in a simulated fabric."""

from __future__ import annotations

import re
from collections.abc import Iterator

from clustergen.catalogue.operating_systems import operating_systems
from clustergen.verify.check import Check, Question, Reader, paths
from clustergen.verify.programs import Answer

COMPONENT = "fabric"
_OPENSM = r"""
cat >/tmp/net <<'END'
Hca 1 "Hca1"
[1] "Switch1" [1]
Switch 4 "Switch1"
[1] "Hca1" [1]
END
export OSM_TMP_DIR=/tmp OSM_CACHE_DIR=/tmp SIM_HOST=Hca1
sleep 60 | ibsim -s /tmp/net >/tmp/ibsim.log 2>&1 &
until grep -q 'simulator ready' /tmp/ibsim.log || ! kill -0 $! 2>/dev/null; do sleep 0.02; done
log=/run/clustergen/log
timeout -k 2 50 ibsim-run "$program" -F "$1" -o -f $log -D 0x7 >/run/clustergen/said 2>&1
status=$?
kill %1
exit $status
"""
_OPENSM_WRONG = re.compile(r"Unrecognized token|Parsing error|PARSE (?:ERROR|WARN)", re.IGNORECASE)


def _opensm_paths(*fields: str) -> tuple[str, ...]:
    """Where the operating systems of the catalogue have these files."""
    return tuple(dict.fromkeys(os.fact(field) for os in operating_systems().values() for field in fields))


def _opensm(answer: Answer, _question: Question) -> Iterator[str]:
    text = answer.notes.get("said", "") + answer.notes.get("log", "")
    yield from (line.strip() for line in text.splitlines() if _OPENSM_WRONG.search(line))
    if "SUBNET UP" not in text:
        yield "the simulated fabric did not come up"
        yield from text.splitlines()[-5:]


CHECKS = (
    Check(
        name="opensm",
        what="subnet manager",
        parser="opensm",
        proves="opensm accepts every key and every line of the partitions, and brings up a simulated fabric (ibsim) of"
        " one switch with them.",
        reads=paths(*_opensm_paths("opensm_conf", "opensm_partitions")),
        ask=Reader(
            "opensm",
            "$program --version | grep -i opensm",
            _OPENSM,
            _opensm,
            arguments=lambda question: sorted(question.targets, key=_opensm_paths("opensm_conf").__contains__)[-1:],
            newest=True,
        ),
    ),
)
