"""The settings of accounts and QOS: one table holds the manifest's fields, sacctmgr's names and those of a dump."""

from __future__ import annotations

from typing import Any

import pytest

from clustergen.catalogue import sacctmgr
from clustergen.catalogue.sacctmgr import Entity
from clustergen.catalogue.versions import SlurmRelease
from clustergen.features.accounts.section import Limits, Qos, TresLimits


@pytest.mark.parametrize(("entity", "section"), [("association", Limits), ("qos", Qos)])
def test_the_table_and_the_manifest_have_the_same_fields(entity: Entity, section: Any) -> None:
    options = {option.field: option for option in sacctmgr.options(entity) if option.field}
    assert options.keys() == section.model_fields.keys() - {"options", "description"}
    for name, option in options.items():
        assert (section.model_fields[name].annotation == TresLimits) == (option.form == "tres"), name


@pytest.mark.parametrize("entity", ["association", "qos"])
def test_a_name_means_one_setting(entity: Entity) -> None:
    options = sacctmgr.options(entity)
    assert len({option.name.lower() for option in options}) == len({option.dump for option in options}) == len(options)


def test_names_are_found_whatever_their_case_and_by_release() -> None:
    option = sacctmgr.option("qos", "grptresmins")
    assert option is not None
    assert (option.name, option.field) == ("GrpTRESMins", "group_tres_minutes")
    assert sacctmgr.option("qos", "MaxConcurrentJobs") is None
    names = {option.name for option in sacctmgr.options("association", SlurmRelease("22.05"))}
    assert "Comment" not in names
    assert "GrpWall" in names
