"""Training runs of the options of `clustergen facility estimate`, and those of the manifest with fields replaced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import yaml
from pydantic import ValidationError

from clustergen.cluster.facility import Facility, Training
from clustergen.cluster.model import Cluster
from clustergen.diagnostics.words import did_you_mean
from clustergen.features.facility import section
from clustergen.features.facility.resolved import training
from clustergen.records import replace

_RECORD = {"checkpoint_every": "checkpoint_every_s"}
"""Fields whose record has another name."""


def runs_of(
    cluster: Cluster, names: Sequence[str], stated: Mapping[str, str], fields: Sequence[str]
) -> dict[str, Training]:
    """Runs by name. Raises ValueError for what is not a field or a value, and where there is no run."""
    values = _values(stated, fields)
    declared = cluster.of(Facility).training
    if "parameters" in values and not names:
        if "token_count" not in values:
            raise ValueError("--parameters needs --tokens")
        return {"options": training(_section(values))}
    for name in names:
        if name not in declared:
            raise ValueError(f"--run {name}: no such run in facility.estimates.training{_meant(name, declared)}")
    chosen = {name: declared[name] for name in names or declared}
    if not chosen:
        raise ValueError("no run: add --parameters and --tokens, or facility.estimates.training to the manifest")
    if not values:
        return chosen
    new = training(_section({"parameters": 1, "token_count": 1} | values))
    changed = {_RECORD.get(name, name): getattr(new, _RECORD.get(name, name)) for name in values}
    return {name: replace(run, **changed) for name, run in chosen.items()}


def _values(stated: Mapping[str, str], fields: Sequence[str]) -> dict[str, Any]:
    texts = dict(stated)
    for field in fields:
        name, _, text = field.partition("=")
        if name not in section.Training.model_fields or not text:
            raise ValueError(f"--set {field}: write FIELD=VALUE{_meant(name, section.Training.model_fields)}")
        texts[name] = text
    values: dict[str, Any] = {name: _scalar(text) for name, text in texts.items()}
    if "gpus" in texts:
        values["gpus"] = tuple(_scalar(part.strip()) for part in texts["gpus"].split(","))
    return values


def _scalar(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return text


def _section(values: Mapping[str, Any]) -> section.Training:
    try:
        return section.Training.model_validate(values)
    except ValidationError as err:
        first = err.errors()[0]
        place = str(first["loc"][0])
        hint = (first.get("ctx") or {}).get("hint")
        raise ValueError(f"{place}: {first['msg']}" + (f"; {hint}" if hint else "")) from None


def _meant(name: str, candidates: Mapping[str, Any]) -> str:
    hint = did_you_mean(name, candidates)
    return f"; {hint}" if hint else ""
