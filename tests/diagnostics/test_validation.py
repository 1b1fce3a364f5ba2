"""pydantic's errors become diagnostics with places: models of many shapes, mistakes of every kind."""

from typing import Annotated, Any, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from clustergen.diagnostics.literals import literal_hint
from clustergen.diagnostics.validation import findings_of
from clustergen.manifest.base import text
from clustergen.manifest.source import Source

FORM = "use lower-case letters, digits, _ and -, and begin with a letter"


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Lustre(Section):
    type: Literal["lustre"]
    mount: str
    mgs: list[str] = Field(min_length=1)


class Nfs(Section):
    type: Literal["nfs"]
    server: str
    port: Annotated[int, Field(ge=1, le=65535)] = 2049


Name = Annotated[str, text(r"^[a-z][a-z0-9_-]*$", FORM, 10)]


class Node(Section):
    name: Name
    type: str
    roles: list[Literal["login", "slurm-compute"]] = []
    weight: int | float | None = None
    addresses: str | list[str] | None = None
    enabled: bool = True
    capacity: str = ""

    @field_validator("capacity")
    @classmethod
    def _unit(cls, value: str) -> str:
        if value and not value.endswith("iB"):
            raise PydanticCustomError(
                "unit-wrong",
                "{value} has no unit",
                {"value": value, "hint": f"say {value}MiB", "offset": 1, "length": 2},
            )
        return value


class Partition(Section):
    nodes: str
    max_time: str = "1"


class Slurm(Section):
    version: str = Field(description="Release, as 24.11.")
    partitions: dict[Name, Partition] = {}
    options: dict[str, str | int | float] = {}


class Cluster(Section):
    name: Name
    slurm: Slurm
    nodes: list[Node] = []
    storage: dict[str, Annotated[Lustre | Nfs, Field(discriminator="type")]] = {}
    either: Slurm | Partition | None = None
    ratio: float = Field(1.0, gt=0, allow_inf_nan=False)
    odd: Any = None

    @field_validator("odd")
    @classmethod
    def _odd(cls, value: Any) -> Any:
        if value == "value":
            raise ValueError("no such thing")
        if value == "unknown":
            raise PydanticCustomError("not-a-code", "never registered")
        return value


GOOD = "name: tiny\nslurm: {version: '1'}\n"


def diagnostics_of(text: str) -> list[tuple[str, str, str, str | None]]:
    """Code, line:column-end, message and hint of each diagnostic for a manifest with the model `Cluster`."""
    source = Source("m", text.encode())
    assert source.data is not None
    assert source.diagnostics == []
    try:
        Cluster.model_validate(source.data)
    except ValidationError as err:
        return [
            (
                diagnostic.code,
                f"{diagnostic.place.line}:{diagnostic.place.column}-{diagnostic.place.end_column}",
                diagnostic.message,
                diagnostic.hint,
            )
            for diagnostic in source.from_validation_error(err, Cluster)
            if diagnostic.place
        ]
    return []


PLACES = "move 'max_time' to slurm.partitions.<name> or either.partitions.<name> or either"
CASES = {
    "misspelt key": (
        GOOD + "nodes: [{name: a, type: x, rolse: []}]\n",
        ("key-unknown", "3:28-33", "nodes 'a' has no key 'rolse'", "did you mean 'roles'?"),
    ),
    "key of another section": (
        GOOD + "partitions: {}\n",
        ("key-unknown", "3:1-11", "the manifest has no key 'partitions'", "move 'partitions' to slurm or either"),
    ),
    "key of a section below names": (
        GOOD + "max_time: 1\n",
        ("key-unknown", "3:1-9", "the manifest has no key 'max_time'", PLACES),
    ),
    "key like nothing": (
        GOOD + "zzzz: 1\n",
        (
            "key-unknown",
            "3:1-5",
            "the manifest has no key 'zzzz'",
            "use one of name, slurm, nodes, storage, either, ratio, odd",
        ),
    ),
    "a key that is there is not suggested": (
        GOOD + "nam: x\n",
        (
            "key-unknown",
            "3:1-4",
            "the manifest has no key 'nam'",
            "use one of name, slurm, nodes, storage, either, ratio, odd",
        ),
    ),
    "a number that is refused as text, too": (
        "name: 7\nslurm: {version: '1'}\n",
        ("type-wrong", "1:7-8", "name must be text, not 7", FORM),
    ),
    "missing key": (
        "name: a\nslurm: {}\n",
        ("key-missing", "2:1-6", "slurm requires the key 'version'", "add version (Release, as 24.11)"),
    ),
    "missing section": (
        "name: a\n",
        ("key-missing", "1:1-1", "the manifest requires the key 'slurm'", "add slurm, a section with version"),
    ),
    "missing key of an item": (
        GOOD + "nodes:\n  - name: a\n",
        ("key-missing", "4:5-12", "nodes 'a' requires the key 'type'", "add type"),
    ),
    "missing and misspelt is one mistake": (
        GOOD + "nodes: [{name: a, typ: x}]\n",
        ("key-unknown", "3:19-22", "nodes 'a' has no key 'typ'", "did you mean 'type'?"),
    ),
    "number for text": (
        "name: a\nslurm: {version: 24.10}\n",
        ("type-wrong", "2:18-23", "slurm.version must be text, not 24.10", 'put it in quotes: "24.10"'),
    ),
    "boolean for text": (
        "name: true\nslurm: {version: '1'}\n",
        ("type-wrong", "1:7-11", "name must be text, not true", 'put it in quotes: "true"'),
    ),
    "text for a boolean": (
        GOOD + "nodes: [{name: a, type: x, enabled: yes}]\n",
        ("type-wrong", "3:37-40", "nodes 'a'.enabled must be true or false, not the text 'yes'", "write true"),
    ),
    "quoted boolean": (
        GOOD + "nodes: [{name: a, type: x, enabled: 'false'}]\n",
        (
            "type-wrong",
            "3:37-44",
            "nodes 'a'.enabled must be true or false, not the text 'false'",
            "remove the quotes: false",
        ),
    ),
    "text for a list": (
        GOOD + "nodes: [{name: a, type: x, roles: login}]\n",
        ("type-wrong", "3:35-40", "nodes 'a'.roles must be a list, not the text 'login'", "write [login]"),
    ),
    "mapping for a list": (
        GOOD + "nodes: {a: b}\n",
        ("type-wrong", "3:8-14", "nodes must be a list, not a mapping", "begin each entry with '- name: …'"),
    ),
    "list of entries for a mapping": (
        "name: a\nslurm: [{version: '1'}]\n",
        (
            "type-wrong",
            "2:8-24",
            "slurm must be a mapping, not a list",
            'write {version: "1"}',
        ),
    ),
    "list for a mapping": (
        "name: a\nslurm: []\n",
        ("type-wrong", "2:8-10", "slurm must be a mapping, not a list", None),
    ),
    "nothing for a mapping": (
        "name: a\nslurm:\n",
        (
            "type-wrong",
            "2:1-6",
            "slurm must be a mapping, but is empty",
            "write its keys below it, indented, or remove the line",
        ),
    ),
    "glued key": (
        "name: a\nslurm:\n  version:24\n",
        (
            "type-wrong",
            "3:3-13",
            "slurm must be a mapping, not the text 'version:24'",
            "add a space after the colon of 'version'",
        ),
    ),
    "not one of a list": (
        GOOD + "nodes: [{name: a, type: x, roles: [login, slurm_compute]}]\n",
        (
            "value-not-allowed",
            "3:43-56",
            "nodes 'a'.roles item 2 cannot be 'slurm_compute'",
            "did you mean 'slurm-compute'?",
        ),
    ),
    "nothing like one of a list": (
        GOOD + "nodes: [{name: a, type: x, roles: [cook]}]\n",
        (
            "value-not-allowed",
            "3:36-40",
            "nodes 'a'.roles item 1 cannot be 'cook'",
            "use 'login' or 'slurm-compute'",
        ),
    ),
    "list for one of a list": (
        GOOD + "nodes: [{name: a, type: x, roles: [[]]}]\n",
        ("type-wrong", "3:36-38", "nodes 'a'.roles item 1 must be 'login' or 'slurm-compute', not a list", None),
    ),
    "unknown tag": (
        GOOD + "storage: {s: {type: lustr, mount: /x}}\n",
        ("value-not-allowed", "3:21-26", "storage.s.type cannot be 'lustr'", "did you mean 'lustre'?"),
    ),
    "no tag": (
        GOOD + "storage: {s: {mount: /x}}\n",
        ("key-missing", "3:11-12", "storage.s requires the key 'type'", "add type: lustre"),
    ),
    "no mapping where a tag is": (
        GOOD + "storage: {s: x}\n",
        (
            "type-wrong",
            "3:14-15",
            "storage.s must be a mapping, not the text 'x'",
            "write a section that begins with type: 'lustre' or 'nfs'",
        ),
    ),
    "inside a tagged mapping": (
        GOOD + "storage: {lustre: {type: nfs, server: x, port: 0}}\n",
        ("value-out-of-range", "3:48-49", "storage.lustre.port must be at least 1, not 0", None),
    ),
    "key of a tagged mapping": (
        GOOD + "storage: {s: {type: nfs, server: x, nfs: 1}}\n",
        ("key-unknown", "3:37-40", "storage.s has no key 'nfs'", "use one of type, server, port"),
    ),
    "empty list": (
        GOOD + "storage: {s: {type: lustre, mount: /x, mgs: []}}\n",
        ("value-out-of-range", "3:45-47", "storage.s.mgs must not be empty", None),
    ),
    "wrong entry of a list that must not be empty": (
        GOOD + "storage: {s: {type: lustre, mount: /x, mgs: [5]}}\n",
        ("type-wrong", "3:46-47", "storage.s.mgs item 1 must be text, not 5", 'put it in quotes: "5"'),
    ),
    "too long": (
        "name: abcdefghijkl\nslurm: {version: '1'}\n",
        ("value-out-of-range", "1:7-19", "name must have at most 10 characters, not 12", None),
    ),
    "not finite": (
        GOOD + "ratio: .inf\n",
        ("value-out-of-range", "3:8-12", "ratio must be a finite number, not .inf", None),
    ),
    "not more than": (GOOD + "ratio: 0\n", ("value-out-of-range", "3:8-9", "ratio must be more than 0.0, not 0", None)),
    "character that cannot be": (
        "name: my cluster\nslurm: {version: '1'}\n",
        ("text-malformed", "1:9-10", "name cannot contain ' '", f"write my-cluster: {FORM}"),
    ),
    "character that cannot be first": (
        'name: "1a"\nslurm: {version: "1"}\n',
        ("text-malformed", "1:8-9", "name cannot begin with '1'", FORM),
    ),
    "key that cannot be": (
        "name: a\nslurm: {version: '1', partitions: {Gpu: {nodes: x}}}\n",
        (
            "text-malformed",
            "2:36-37",
            "slurm.partitions: the key 'Gpu' cannot begin with 'G'",
            f"write gpu: {FORM}",
        ),
    ),
    "union of scalars": (
        "name: a\nslurm: {version: '1', options: {x: [1]}}\n",
        ("type-wrong", "2:36-39", "slurm.options.x must be text or a number, not a list", "write 1"),
    ),
    "union of a scalar and a list": (
        GOOD + "nodes: [{name: a, type: x, addresses: 5}]\n",
        ("type-wrong", "3:39-40", "nodes 'a'.addresses must be text or a list, not 5", 'put it in quotes: "5"'),
    ),
    "inside one branch of a union": (
        GOOD + "nodes: [{name: a, type: x, addresses: [b, 5]}]\n",
        ("type-wrong", "3:43-44", "nodes 'a'.addresses item 2 must be text, not 5", 'put it in quotes: "5"'),
    ),
    "nearest branch of a union of mappings": (
        GOOD + "either: {nodes: a, max_time: 5}\n",
        ("type-wrong", "3:30-31", "either.max_time must be text, not 5", 'put it in quotes: "5"'),
    ),
    "custom error": (
        GOOD + "nodes: [{name: a, type: x, capacity: '1234'}]\n",
        ("unit-wrong", "3:40-42", "nodes 'a'.capacity: 1234 has no unit", "say 1234MiB"),
    ),
    "custom error without a code": (
        GOOD + "odd: unknown\n",
        ("text-malformed", "3:6-13", "odd: never registered", None),
    ),
    "value error": (GOOD + "odd: value\n", ("text-malformed", "3:6-11", "odd: no such thing", None)),
}


@pytest.mark.parametrize("case", CASES)
def test_one_mistake(case: str) -> None:
    text, expected = CASES[case]
    assert diagnostics_of(text) == [expected]


def test_the_models_of_this_file_take_what_is_right() -> None:
    assert (
        diagnostics_of(
            GOOD + "storage: {s: {type: lustre, mount: /x, mgs: [a]}}\nnodes: [{name: a, type: x, weight: 1.5}]\n"
        )
        == []
    )


def test_all_mistakes_at_once_in_file_order() -> None:
    text = (
        "name: 5\n"
        "nodes:\n"
        "  - {name: a, roles: [x], typ: b, enabled: 1}\n"
        "  - {type: b, addresses: [1, 2]}\n"
        "storage:\n"
        "  s: {type: lustre, mgs: 1, x: 2}\n"
        "slurm: {partitions: {p: {}}}\n"
        "odd: value\n"
    )
    assert [(code, place.split("-")[0]) for code, place, _, _ in diagnostics_of(text)] == [
        ("type-wrong", "1:7"),
        ("value-not-allowed", "3:23"),
        ("key-unknown", "3:27"),
        ("type-wrong", "3:44"),
        ("key-missing", "4:5"),
        ("type-wrong", "4:27"),
        ("type-wrong", "4:30"),
        ("key-missing", "6:3"),
        ("type-wrong", "6:26"),
        ("key-unknown", "6:29"),
        ("key-missing", "7:1"),
        ("key-missing", "7:22"),
        ("text-malformed", "8:6"),
    ]


def test_a_refused_secret_is_not_unknown_too() -> None:
    source = Source("m", (GOOD + "password: hunter2\n").encode())
    with pytest.raises(ValidationError) as caught:
        Cluster.model_validate(source.data)
    assert source.from_validation_error(caught.value, Cluster) == []
    assert [diagnostic.code for diagnostic in source.diagnostics] == ["secret-in-manifest"]


@pytest.mark.slow
def test_a_thousand_errors_end_the_validation() -> None:
    nodes = [{"name": f"n{number}", "typ": "x", "enabled": 5} for number in range(3000)]
    data = {"name": "a", "slurm": {"version": "1"}, "nodes": nodes}
    with pytest.raises(ValidationError) as caught:
        Cluster.model_validate(data)
    findings = findings_of(caught.value, Cluster, data, lambda _: None)
    assert (findings[-1].code, findings[-1].message) == ("file-too-large", "1,000 mistakes; validation stops here")
    assert len(findings) <= 1001


@pytest.mark.parametrize("value", [None, 1, 1.5, "x", True, [], [1], {}, {"a": 1}, {"type": None}, [[None]]])
@pytest.mark.parametrize("place", ["name", "slurm", "nodes", "storage", "either", "ratio", "odd"])
def test_any_value_anywhere_gets_words(place: str, value: Any) -> None:
    data = {"name": "a", "slurm": {"version": "1"}, place: value}
    try:
        Cluster.model_validate(data)
    except ValidationError as err:
        findings = findings_of(err, Cluster, data, lambda _: None)
        assert findings
        for item in findings:
            assert item.path[0] == place
            assert "Input should" not in item.message


@pytest.mark.parametrize(
    ("items", "hint"),
    [
        (("10.0.0.11", "10.0.0.12"), 'write "10.0.0.[11-12]"'),
        (("gpu1", "gpu2", "gpu3"), 'write "gpu[1-3]"'),
        (("debian-13",), "write debian-13"),
        (("head", "login"), None),
        (("a b", "a c"), None),
        ((1, 2), None),
    ],
)
def test_a_list_that_folds_to_one_text(items: tuple[Any, ...], hint: str | None) -> None:
    assert literal_hint(["text"], items, "", None) == hint
