"""The manifest's JSON Schema for editors, with the names of the catalogue as completions."""

import json
from types import SimpleNamespace
from typing import Any

from clustergen.manifest.nodes import Nodes

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
    """JSON Schema 2020-12 of the manifest. Its definitions fit parts of sections, as in a manifest that extends a file;
    where it extends none, what a section must have is demanded besides, by definitions of that alone.
    """
    from clustergen.catalogue.topics import TOPICS

    schema = {"$schema": "https://json-schema.org/draft/2020-12/schema", **model_schema()}
    for (model, name), topic in CATALOGUE_FIELDS.items():
        field = schema["$defs"][model]["properties"][name]
        _offer(field, TOPICS[topic].ids(), [TOPICS[topic].title(row) for row in TOPICS[topic].rows()])
    definitions = schema.pop("$defs")
    head: dict[str, Any] = {key: schema.pop(key) for key in ("$schema", "title", "description") if key in schema}
    of_type = definitions["NodeType"]["properties"]
    definitions["Nodes"]["properties"] |= {name: of_type[name] for name in Nodes.OVERRIDES}
    strict = _Strict(definitions)
    alone = {"if": {"not": {"required": ["extends"]}}, "then": strict.of(schema)}
    parts = {name: _part(definition) for name, definition in definitions.items()}
    return {**head, **_part(schema), **alone, "$defs": {**parts, **strict.definitions()}}


def json_schema_text() -> str:
    """The schema as a file, with a line for each property."""
    return _lines(json_schema()) + "\n"


def _lines(value: Any, key: str = "", indent: str = "") -> str:
    """JSON with a line for each definition and property."""
    is_long = isinstance(value, dict) and (key in ("", "properties", "$defs") or "properties" in value)
    if not is_long:
        return json.dumps(value)
    rows = (f"{indent} {json.dumps(name)}: {_lines(child, name, indent + ' ')}" for name, child in value.items())
    return "{\n" + ",\n".join(rows) + f"\n{indent}}}"


def _part(schema: Any) -> Any:
    """The schema of a manifest that extends a file: this may have what is required, and null removes a key of it."""
    if isinstance(schema, list):
        return [_part(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result: dict[str, Any] = {}
    for key, value in schema.items():
        if key in ("properties", "patternProperties"):
            result[key] = {name: _nullable(_part(form)) for name, form in value.items()}
        elif key == "additionalProperties" and isinstance(value, dict):
            result[key] = _nullable(_part(value))
        elif key in ("examples", "default", "enum"):
            result[key] = value
        elif key not in ("required", "discriminator", "title"):
            result["anyOf" if key == "oneOf" else key] = _part(value)
    return result


_NULL = {"type": "null"}


def _nullable(form: dict[str, Any]) -> dict[str, Any]:
    """A form that admits null as well."""
    if "anyOf" in form:
        return form if _NULL in form["anyOf"] else {**form, "anyOf": [*form["anyOf"], _NULL]}
    if isinstance(form.get("type"), str) and "const" not in form:
        others = {"enum": [*form["enum"], None]} if "enum" in form else {}
        return {**form, **others, "type": [form["type"], "null"]}
    kept: dict[str, Any] = {key: form[key] for key in ("description", "default", "examples") if key in form}
    return {**kept, "anyOf": [{key: value for key, value in form.items() if key not in kept}, _NULL]}


class _Strict:
    """Demands that `_part` leaves out of forms: required keys, and values that cannot be null."""

    def __init__(self, definitions: dict[str, Any]) -> None:
        self._originals = definitions
        self._made: dict[str, dict[str, Any]] = {}

    def definitions(self) -> dict[str, Any]:
        """The definitions that the forms of `of` refer to."""
        made = {f"Whole{name}": {"title": name, **form} for name, form in self._made.items() if form}
        return {**made, "Stated": {"not": _NULL}}

    def of(self, form: Any) -> dict[str, Any]:
        """The demands of a form; none where it has none."""
        if not isinstance(form, dict):
            return {}
        if "$ref" in form:
            name = form["$ref"].rpartition("/")[2]
            if name not in self._made:
                self._made[name] = {}  # of a form in itself
                self._made[name] = self.of(self._originals[name])
            return {"$ref": f"#/$defs/Whole{name}"} if self._made[name] else {}
        if branches := form.get("anyOf") or form.get("oneOf"):
            demands = [self.of(branch) for branch in branches]
            plain = [{key: branch[key] for key in ("type", "const") if key in branch} for branch in branches]
            return (
                {"anyOf": [each or other for each, other in zip(demands, plain, strict=True)]} if any(demands) else {}
            )
        result = {"required": form["required"]} if "required" in form else {}
        for key in ("properties", "patternProperties"):
            demands_by_name = {name: self._of_value(child) for name, child in form.get(key, {}).items()}
            if rows := {name: child for name, child in demands_by_name.items() if child}:
                result[key] = rows
        if isinstance(form.get("additionalProperties"), dict):
            result["additionalProperties"] = self._of_value(form["additionalProperties"])
        if items := self.of(form.get("items")):
            result["items"] = items
        return {"type": form["type"], **result} if result and "type" in form else result

    def _of_value(self, form: dict[str, Any]) -> dict[str, Any]:
        """The demands of a value that `_part` lets be null."""
        if "const" in form:
            return {"const": form["const"]}
        if "anyOf" in form and _NULL in form["anyOf"]:
            return self.of(form)
        return self.of(form) or {"$ref": "#/$defs/Stated"}


def _offer(field: dict[str, Any], names: list[str], descriptions: list[str]) -> None:
    """Adds names that editors complete to a field whose form admits more."""
    kept = ("title", "description", "default")
    form = {key: field.pop(key) for key in list(field) if key not in kept}
    # enumDescriptions is what VS Code and yaml-language-server show beside a name; validators ignore it.
    field["anyOf"] = [{"enum": names, "enumDescriptions": descriptions}, *form.get("anyOf", [form])]
