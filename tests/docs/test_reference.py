"""Pages that list what the program has: fields of the manifest and of the cluster, and codes."""

from __future__ import annotations

import sys

import pytest

from strategies.pages import ROOT

sys.path.insert(0, str(ROOT / "tools"))

from site_pages import cluster, codes, manifest


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


def test_the_committed_index_of_codes_has_todays_codes() -> None:
    committed = (ROOT / "docs" / "codes" / "README.md").read_text(encoding="utf-8")
    assert committed == codes.readme(), "tools/update-code-pages writes it"
