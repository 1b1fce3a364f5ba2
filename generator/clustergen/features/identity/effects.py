"""A directory that a manifest no longer has: its users are unknown on the nodes from then on."""

from __future__ import annotations

from collections.abc import Iterator

from clustergen.render.side import ManualStep, Side

_CONF = "/etc/sssd/sssd.conf"


def steps(old: Side, new: Side) -> Iterator[ManualStep]:
    if _has_sssd(old) and not _has_sssd(new):
        yield ManualStep(
            "give the nodes another source of the directory's users, who are unknown without it and whose jobs fail;"
            " take SSSD out of PAM: pam-auth-update --disable sss, or authselect select minimal"
        )


def _has_sssd(side: Side) -> bool:
    return any(file.target == _CONF for file in side.files.values())
