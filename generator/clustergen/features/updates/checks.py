"""Updates before apt; dnf reads its files on nodes alone."""

from __future__ import annotations

from clustergen.verify.check import Check, Question, Reader, any_word, paths, unreadable
from clustergen.verify.programs import Answer

COMPONENT = "host"
_VERSION = "$program --version | head -1"


def _words(answer: Answer, _question: Question) -> list[str]:
    return any_word(answer)


CHECKS = (
    Check(
        name="updates",
        what="updates of packages",
        parser="apt-config dump",
        proves="apt reads every setting, and the last of each is the tree's. unattended-upgrades does not run.",
        reads=paths("/etc/apt/apt.conf.d/*", "/etc/clustergen/apt-*.conf"),
        ask=Reader(
            "apt-config", _VERSION, 'for file; do APT_CONFIG=$file "$program" dump >/dev/null || exit; done', _words
        ),
    ),
    Check(
        name="held packages",
        what="packages that keep their version",
        parser="apt-cache policy",
        proves="apt reads every record. No package is installed.",
        reads=paths("/etc/apt/preferences.d/*", "/etc/clustergen/apt-*.pref"),
        ask=Reader(
            "apt-cache",
            _VERSION,
            # Without the packages and lists of this machine, which it would compare with each pattern for seconds.
            'for file; do "$program" -o Dir::State=/tmp -o Dir::State::status=/dev/null'
            ' -o Dir::Etc::preferences="$file" policy >/dev/null || exit; done',
            _words,
        ),
    ),
    unreadable(
        "updates of dnf",
        "held packages and updates",
        "dnf",
        "dnf reads them when it has repositories, which only nodes have.",
        "/etc/dnf/*",
    ),
)
