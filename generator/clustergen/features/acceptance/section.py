"""Acceptance: whether the tree has the gates that judge a finished cluster."""

from typing import Literal

from clustergen.manifest.base import Section, field, section


class Acceptance(Section):
    """Tests that judge whether the finished cluster performs as its hardware should."""

    enabled: bool = field(True, "Render acceptance/ and install the programs that its gates run on compute nodes.")
    benchmarks: tuple[Literal["hpcc", "ior"], ...] = field(
        (),
        "Programs of further gates: hpcc (HPL and STREAM on each node; site.yml installs it on Debian and Ubuntu) and"
        " ior (IOR and mdtest from all nodes, which you install).",
    )


PLACES = {
    "acceptance": (
        Acceptance,
        section(
            Acceptance,
            "Tests of the finished cluster; none unless the section is present, which can be {}.",
            enabled=False,
        ),
    )
}
