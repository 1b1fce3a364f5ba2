"""Types of plain scalars: YAML 1.2's core schema, and none of YAML 1.1's surprises."""

import math
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from clustergen.manifest.source import Source
from clustergen.manifest.yaml_scalars import plain_value


def value(text: str) -> Any:
    source = Source("m", f"a: {text}\n".encode())
    assert source.diagnostics == []
    assert source.data is not None
    return source.data["a"]


@pytest.mark.parametrize(
    "text",
    [
        "yes", "no", "on", "off", "y", "n", "Yes", "OFF", "24:00:00", "1:30", "7-0", "2026-01-01",
        "2026-01-01T10:00:00Z",
        "1_000",
        "0755", "007", "-01", "0b101", "0x", "0o8", "1.2.3", "10.0.0.1", "1e", "e5", ".", "-", "+", "..", "tRUE",
        "nULL", "<<", "=", "1,5", "inf", "nan", "compute[01-08]", "a:b", "C#",
        "1 2", "-.inf1", "0x1G",
    ],
)  # fmt: skip
def test_text_stays_text(text: str) -> None:
    assert plain_value(text) == text


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("", None), ("~", None), ("null", None), ("Null", None), ("NULL", None),
        ("true", True), ("True", True), ("TRUE", True), ("false", False), ("False", False), ("FALSE", False),
        ("0", 0), ("-0", 0), ("+7", 7), ("-12", -12), ("0x1F", 31), ("0o17", 15), ("99999999999999999999", 10**20 - 1),
        ("1.5", 1.5), ("-.5", -0.5), ("1.", 1.0), ("1e3", 1000.0), ("6.02E+23", 6.02e23), ("25.10", 25.1), ("0.5", 0.5),
        (".inf", math.inf), ("-.Inf", -math.inf), ("+.INF", math.inf), ("1e999", math.inf),
    ],
)  # fmt: skip
def test_core_schema(text: str, meant: Any) -> None:
    result = value(text)
    assert result == meant
    assert type(result) is type(meant)


def test_not_a_number() -> None:
    assert math.isnan(value(".nan"))


@pytest.mark.parametrize("text", ["'yes'", '"1"', "'null'", '"true"', "!!str 5"])
def test_quotes_and_the_text_tag_make_text(text: str) -> None:
    assert value(text) == text.removeprefix("!!str ").strip("'\"")


@pytest.mark.parametrize(
    ("text", "meant"), [("!!int 5", 5), ("!!float 5", 5.0), ("!!bool true", True), ("!!null ~", None)]
)
def test_core_tags(text: str, meant: Any) -> None:
    result = value(text)
    assert result == meant
    assert type(result) is type(meant)


@pytest.mark.slow
@given(st.text(alphabet="0123456789+-.eExobnaift_: ~", max_size=12))
def test_any_scalar_has_a_meaning(text: str) -> None:
    assert isinstance(plain_value(text), str | int | float | None)


@pytest.mark.slow
@given(st.integers(-(10**18), 10**18) | st.floats(allow_nan=False, width=32) | st.booleans() | st.none())
def test_output_of_pyyaml_reads_back(number: Any) -> None:
    assert value(yaml.safe_dump(number).removesuffix("...\n").strip()) == number


def test_a_number_of_ten_thousand_digits_is_text_and_no_crash() -> None:
    assert value("9" * 10_000) == "9" * 10_000


def test_keys_are_their_text() -> None:
    source = Source("m", b"1: a\n24.10: b\ntrue: c\nyes: d\n'x y': e\n0x1F: f\n")
    assert source.data == {"1": "a", "24.10": "b", "true": "c", "yes": "d", "x y": "e", "0x1F": "f"}
    assert source.diagnostics == []
