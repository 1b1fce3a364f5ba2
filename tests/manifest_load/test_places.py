"""Sections of the manifest by their type, as rules name them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from clustergen.compile import frozen
from clustergen.features.backups.section import Backups
from clustergen.features.logs.section import Logs
from clustergen.features.power_saving.section import PowerSaving
from clustergen.manifest.model import Manifest
from clustergen.manifest.networks import FabricPlan
from clustergen.manifest.nodes import Nodes
from clustergen.manifest.places import section_of
from clustergen.manifest.storage import Storage
from strategies.trees import manifest


@pytest.fixture(scope="module")
def document() -> Manifest:
    return Manifest.model_validate(frozen(manifest(logs={"port": 6515})))


@pytest.mark.parametrize("kind", [Manifest, Logs, tuple[Nodes, ...], Mapping[str, Storage]])
def test_a_section_is_found_by_its_type(document: Manifest, kind: Any) -> None:
    places = {
        Manifest: document,
        Logs: document.logs,
        tuple[Nodes, ...]: document.nodes,
        Mapping[str, Storage]: document.storage,
    }
    assert section_of(document, kind) is places[kind]


@pytest.mark.parametrize("kind", [Backups, PowerSaving])
def test_an_absent_section_is_none(document: Manifest, kind: Any) -> None:
    assert section_of(document, kind) is None


@pytest.mark.parametrize(("kind", "count"), [(FabricPlan, 4), (int, 0)])
def test_a_type_of_no_section_or_of_several_is_refused(document: Manifest, kind: Any, count: int) -> None:
    with pytest.raises(LookupError, match=f"{count} sections of the manifest are"):
        section_of(document, kind)
