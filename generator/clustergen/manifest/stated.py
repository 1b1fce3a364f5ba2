"""Which fields a manifest sets itself, be it to the value of the default."""

from __future__ import annotations

from pydantic import BaseModel


def is_stated(section: object, path: str) -> bool:
    """Whether the section (a model or mapping of the manifest) sets the field: `slurm.priority.weights.age`."""
    value = section
    for name in path.split("."):
        if isinstance(value, BaseModel):
            if name not in value.model_fields_set:
                return False
            value = getattr(value, name)
        elif isinstance(value, dict) and name in value:
            value = value[name]
        else:
            return False
    return bool(path)


def value_at(section: object, path: str) -> object:
    """The value of that field, or its default; None where a mapping lacks it."""
    value = section
    for name in path.split("."):
        value = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
    return value
