"""docs/manifest.md and docs/cluster.md have the fields of the models, with their descriptions."""

from __future__ import annotations

import sys

import pytest

from strategies.pages import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from site_pages import cluster, manifest


@pytest.mark.slow
def test_the_committed_reference_of_the_manifest_has_todays_fields() -> None:
    """Its examples may differ: they follow the guides and the inventories."""

    def tables(page: str) -> list[str]:
        return [line for line in page.splitlines() if line.startswith(("#", "|"))]

    committed = (ROOT / "docs" / "manifest.md").read_text(encoding="utf-8")
    assert tables(committed) == tables(manifest.page()), "tools/update-manifest-reference writes it"


@pytest.mark.slow
def test_the_committed_reference_of_the_cluster_has_todays_fields() -> None:
    committed = cluster.PAGE.read_text(encoding="utf-8")
    assert committed == cluster.page(), "tools/update-cluster-reference writes it"
