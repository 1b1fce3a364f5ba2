"""The manifest's JSON Schema for editors, with the names of the catalogue as completions."""

import json
from types import SimpleNamespace
from typing import Any

# Model and field that name a row → the topic of the catalogue. Names of a site's own rows stay valid: the field's own
# form is another branch of its anyOf.
CATALOGUE_FIELDS = {
    ("NodeType", "system"): "systems",
    ("Gpus", "model"): "gpus",
    ("OwnSystem", "gpu"): "gpus",
    ("Nic", "model"): "nics",
    ("Switch", "model"): "switches",
    ("FabricPlan", "leaf"): "switches",
    ("FabricPlan", "spine"): "switches",
    ("FabricPlan", "core"): "switches",
    ("Fabric", "rate"): "rates",
    ("OwnSwitch", "rate"): "rates",
    ("Slurm", "version"): "slurm",
}


def model_schema(*, short_names: bool = True) -> dict[str, Any]:
    """The schema of the models, with default quantities as a manifest writes them: `10%`.

    Its definitions have the names of their classes, or longer ones, which takes less than half of the time.
    """
    from pydantic.json_schema import GenerateJsonSchema

    from clustergen.manifest.model import Manifest
    from clustergen.units.base import PydanticField

    class Generator(GenerateJsonSchema):
        def encode_default(self, dft: Any) -> Any:
            if dft is None or isinstance(dft, str | int | float):
                return dft
            if isinstance(dft, tuple):
                return list(map(self.encode_default, dft))
            return str(dft) if isinstance(dft, PydanticField) else super().encode_default(dft)

    class Fast(Generator):
        def sort(self, value: Any, parent_key: str | None = None) -> Any:
            return value

        def _build_definitions_remapping(self) -> Any:
            return SimpleNamespace(remap_json_schema=lambda schema: schema)

    return Manifest.model_json_schema(schema_generator=Generator if short_names else Fast)


def json_schema() -> dict[str, Any]:
    """JSON Schema 2020-12 of the manifest."""
    from clustergen.catalogue.topics import TOPICS

    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model_schema()}
    for (model, name), topic in CATALOGUE_FIELDS.items():
        field = schema["$defs"][model]["properties"][name]
        _offer(field, TOPICS[topic].ids(), [TOPICS[topic].title(row) for row in TOPICS[topic].rows()])
    definitions = schema.pop("$defs")
    head: dict[str, Any] = {key: schema.pop(key) for key in ("$schema", "title", "description") if key in schema}
    parts = {f"Part{name}": _part(definition) for name, definition in definitions.items()}
    extends = {"if": {"required": ["extends"]}, "then": _part(schema), "else": schema}
    return {**head, **extends, "$defs": {**definitions, **parts}}


def json_schema_text() -> str:
    """The schema as a file."""
    return json.dumps(json_schema(), indent=1) + "\n"


def _part(schema: Any) -> Any:
    """The schema of a manifest that extends a file: this may have what is required, and null removes a key of it."""
    if isinstance(schema, list):
        return [_part(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "patternProperties"):
            result[key] = {name: {"anyOf": [_part(form), {"type": "null"}]} for name, form in value.items()}
        elif key == "additionalProperties" and isinstance(value, dict):
            result[key] = {"anyOf": [_part(value), {"type": "null"}]}
        elif key == "$ref":
            result[key] = value.replace("#/$defs/", "#/$defs/Part")
        elif key not in ("required", "discriminator"):
            result["anyOf" if key == "oneOf" else key] = _part(value)
    return result


def _offer(field: dict[str, Any], names: list[str], descriptions: list[str]) -> None:
    """Adds names that editors complete to a field whose form admits more."""
    kept = ("title", "description", "default")
    form = {key: field.pop(key) for key in list(field) if key not in kept}
    # enumDescriptions is what VS Code and yaml-language-server show beside a name; validators ignore it.
    field["anyOf"] = [{"enum": names, "enumDescriptions": descriptions}, *form.get("anyOf", [form])]
