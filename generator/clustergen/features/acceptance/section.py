"""Acceptance: whether the tree has the gates that judge a finished cluster."""

from typing import Literal

from clustergen.manifest.base import AbsolutePath, Section, field, section


class Acceptance(Section):
    """Tests that judge whether the finished cluster performs as its hardware should."""

    enabled: bool = field(True, "Render acceptance/ and install the programs that its gates run on compute nodes.")
    benchmarks: tuple[Literal["hpcc", "ior", "resnet"], ...] = field(
        (),
        "Programs of further gates: hpcc (HPL and STREAM on each node; site.yml installs it on Debian and Ubuntu),"
        " ior (IOR and mdtest from all nodes, which you install) and resnet (a training with PyTorch).",
    )
    python: AbsolutePath | None = field(
        None,
        "Python interpreter with PyTorch, for resnet; default: that of the first environment of `environment.python`"
        " with torch, else python3.",
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
