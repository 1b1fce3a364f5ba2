"""docs/acceptance.md has a section for every gate and a row for every share; the role and verify have one ReFrame."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from clustergen.catalogue.acceptance import gate_kinds, shares
from clustergen.verify.reframe import VERSION

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/acceptance.md").read_text(encoding="utf-8")


def test_every_gate_has_a_section() -> None:
    titles = [title for line in re.findall(r"^### (.+)$", PAGE, re.MULTILINE) for title in line.split(", ")]
    assert sorted(titles) == sorted(gate_kinds())


def test_every_share_is_listed_beside_its_measurement() -> None:
    rows = {cells[1].strip(" `"): cells for line in PAGE.splitlines() if len(cells := line.split("|")) == 6}
    for name, share in shares().items():
        _, _, text, published, possible, _ = rows[name]
        assert text.split()[0] == f"{share.share:.0%}".removesuffix("%")
        if share.published:
            assert published.strip() == f"{share.published:g} {share.unit}"
            assert possible.strip() == (f"{share.possible:g} {share.unit}" if share.possible else "")
        else:
            assert "unconfirmed" in published


def test_the_role_installs_the_release_that_verify_runs() -> None:
    defaults = ROOT / "playbooks/ansible_collections/clustergen/cluster/roles/accept/defaults/main.yml"
    assert yaml.safe_load(defaults.read_text(encoding="utf-8"))["accept_reframe_version"] == VERSION
