"""Which fields a manifest sets itself, be it to the value of the default."""

from __future__ import annotations

from pydantic import BaseModel

from clustergen.diagnostics import ManifestPath


def is_stated(section: object, path: str) -> bool:
    """True if the section (a model or mapping of the manifest) sets the field: `slurm.priority.weights.age`."""
    value, is_set = section, bool(path)
    for name in path.split("."):
        if isinstance(value, BaseModel):
            is_set = is_set and name in value.model_fields_set
            value = getattr(value, name, None)  # of a default as well: explain tries the fields that were read
        elif isinstance(value, dict) and name in value:
            value = value[name]
        else:
            return False
    return is_set


def stated_at(section: BaseModel, *path: str) -> ManifestPath | None:
    """The path, if the section sets its last field; None where that is left to the default."""
    return path if path[-1] in section.model_fields_set else None
