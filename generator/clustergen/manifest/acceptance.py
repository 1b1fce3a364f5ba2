"""Acceptance: whether the tree has the gates that judge a finished cluster."""

from clustergen.manifest.base import Section, field


class Acceptance(Section):
    """Tests that judge whether the finished cluster performs as its hardware should."""

    enabled: bool = field(False, "Render acceptance/ and install the programs that its gates run on compute nodes.")
