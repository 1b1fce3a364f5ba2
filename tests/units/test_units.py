"""Quantities: accepted texts, rejected texts and their error messages."""

import json
from collections.abc import Callable
from typing import Annotated, Any, Literal

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from clustergen.units import (
    Age,
    Bare,
    BitRate,
    ByteRate,
    Bytes,
    Count,
    Duration,
    Minutes,
    Percent,
    Seconds,
    UnitError,
    Watts,
)

TYPES = (Bytes, BitRate, ByteRate, Watts, Percent, Duration, Age)


@pytest.mark.parametrize(
    ("kind", "text", "value", "canonical"),
    [
        (Bytes, "1.5TiB", 1536 * 2**30, "1.5TiB"),
        (Bytes, "1536GiB", 1536 * 2**30, "1.5TiB"),
        (Bytes, " 2 TB ", 2 * 10**12, "2TB"),
        (Bytes, "512GiB", 2**39, "512GiB"),
        (Bytes, "2000MiB", 2000 * 2**20, "2000MiB"),
        (Bytes, "64KB", 64000, "64kB"),
        (Bytes, "0B", 0, "0B"),
        (Bytes, "1.1GiB", 1181116006, "1181116006B"),
        (BitRate, "400Gb/s", 400 * 10**9, "400Gb/s"),
        (BitRate, "400Gbps", 400 * 10**9, "400Gb/s"),
        (BitRate, "200Gbit/s", 200 * 10**9, "200Gb/s"),
        (BitRate, "1.6Tb/s", 1600 * 10**9, "1.6Tb/s"),
        (ByteRate, "50GBps", 50 * 10**9, "50GB/s"),
        (ByteRate, "3.35TB/s", 3350 * 10**9, "3.35TB/s"),
        (ByteRate, "10GiB/s", 10 * 2**30, "10GiB/s"),
        (Watts, "10.2kW", 10200, "10.2kW"),
        (Watts, "700W", 700, "700W"),
        (Percent, "80%", 80, "80%"),
        (Percent, "2.5 %", 2.5, "2.5%"),
        (Count, "70B", 70 * 10**9, "70B"),
        (Count, "1.4T", 1400 * 10**9, "1.4T"),
        (Count, "7e10", 70 * 10**9, "70B"),
        (Count, "350 M", 350 * 10**6, "350M"),
        (Count, "1234567", 1234567, "1234567"),
    ],
)
def test_texts_with_a_unit(kind: Any, text: str, value: float, canonical: str) -> None:
    quantity = kind.parse(text)
    assert quantity.value == value
    assert str(quantity) == canonical
    assert kind.parse(canonical) == quantity


@pytest.mark.parametrize(
    ("kind", "text", "message", "hint"),
    [
        (Bytes, "1500000", "1500000 has no unit", "write 1500000MiB"),
        (Bytes, "128", "128 has no unit", "write 128GiB"),
        (Bytes, "4096", "4096 has no unit", "write 4096GiB or 4096MiB"),
        (Age, "24", "24 has no unit", "write 24months, 24days or 24hours"),
        (Age, "2 moons", "'moons' is not a unit of a retention time", "use hours, days, weeks, months or years"),
        (Age, "0days", "0days would keep no record", "remove it to keep all records"),
        (Age, "soon", "'soon' is not a retention time", "write 24months, 90days or 12hours"),
        (
            Bytes,
            "1.5T",
            "1.5T is ambiguous: 1.5TB or 1.5TiB",
            "write 1.5TiB (1024s, as memory) or 1.5TB (1000s, as disks)",
        ),
        (Bytes, "512Gb", "512Gb is a number of bits", "write 512GiB or 512GB"),
        (Bytes, "64gb", "'gb' is not a unit", "write 64GB"),
        (Bytes, "1,5TiB", "'1,5TiB' is not a number with a unit", "write 1.5TiB"),
        (Bytes, "-1GB", "'-1GB' is not a number with a unit", "write it like 1.5TiB"),
        (Bytes, "400Gb/s", "400Gb/s is a rate in bits, not a number of bytes", "write it like 1.5TiB"),
        (BitRate, "400", "400 has no unit", "write 400Gb/s"),
        (BitRate, "400G", "400G is not a rate", "write 400Gb/s"),
        (BitRate, "400gbps", "'gbps' is not a unit", "write 400Gb/s"),
        (BitRate, "50GB/s", "50GB/s is a rate in bytes, not a rate in bits", "50GB/s are 400Gb/s"),
        (ByteRate, "400Gbps", "400Gbps is a rate in bits, not a rate in bytes", "400Gb/s are 50GB/s"),
        (ByteRate, "5 parsecs", "'parsecs' is not a unit for a rate in bytes", "use one of PB/s"),
        (Watts, "700", "700 has no unit", "write 700W"),
        (Watts, "40", "40 has no unit", "write 40kW or 40W"),
        (Watts, "1kVA", "1kVA is apparent power", "write the power, as 0.95kW with a factor of 0.95"),
        (Watts, "1hp", "'hp' is not a unit for a power", "use one of MW, kW, W"),
        (Percent, "80", "80 has no %", "write 80%"),
        (Count, "70GB", "'GB' is not a unit for a count", "use one of k, M, B, T"),
        (Count, "70G", "'G' is not a unit for a count", "write 70B"),
        (Count, "70b", "'b' is not a unit for a count", "write 70B"),
        (Count, "0", "0 is out of range", "write it like 70B"),
        (Count, "many", "'many' is not a count", "write it like 70B"),
        (Percent, "0.8", "0.8 has no %", "write 80%"),
        (Duration, "2m1h", "'2m1h' is not a duration", "write 30min, 24h"),
        (Duration, "7d12", "'7d12' is not a duration", "write 30min, 24h"),
        (Duration, "-5", "'-5' is not a duration", "write 30min, 24h"),
        (Duration, "0.3s", "0.3s is not a whole number of seconds", "write 30min, 24h"),
        (Duration, "99999d", "99999d exceeds the longest duration in Slurm", "write at most 24855 days"),
    ],
)
def test_refusals_name_the_way_out(kind: Any, text: str, message: str, hint: str) -> None:
    with pytest.raises(UnitError) as caught:
        kind.parse(text)
    assert caught.value.message == message
    assert (caught.value.hint or "").startswith(hint)


@pytest.mark.parametrize(
    ("text", "slurm"),
    [
        ("5", "00:05:00"),
        ("90", "01:30:00"),
        ("1:30", "00:01:30"),
        ("24:00:00", "1-00:00:00"),
        ("7-0", "7-00:00:00"),
        ("7-12:30", "7-12:30:00"),
        ("7-12:30:15", "7-12:30:15"),
        ("7d", "7-00:00:00"),
        ("24h", "1-00:00:00"),
        ("30min", "00:30:00"),
        ("30m", "00:30:00"),
        ("2h30m", "02:30:00"),
        ("1.5 hours", "01:30:00"),
        ("1 week 1 day", "8-00:00:00"),
        ("90s", "00:01:30"),
        ("unlimited", "UNLIMITED"),
        ("INFINITE", "UNLIMITED"),
        ("-1", "UNLIMITED"),
    ],
)
def test_durations_in_slurm_form(text: str, slurm: str) -> None:
    duration = Duration.parse(text)
    assert duration.slurm() == str(duration) == slurm
    assert Duration.parse(slurm) == duration


def test_durations_in_seconds_and_minutes() -> None:
    assert (Duration.parse("90s").seconds, Duration.parse("90s").minutes) == (90, 2)
    unlimited = Duration.parse("unlimited")
    assert (unlimited.seconds, unlimited.minutes, unlimited.unlimited) == (None, None, True)
    assert unlimited > Duration.parse("24855d")


def test_conversions_are_explicit() -> None:
    assert BitRate.parse("400Gb/s").to_bytes() == ByteRate.parse("50GB/s")
    assert ByteRate.parse("50GB/s").to_bits() == BitRate.parse("400Gb/s")
    memory = Bytes.parse("1.5TiB")
    assert (memory.mib, memory.gib, Bytes.parse("1TB").gb) == (1572864, 1536.0, 1000.0)
    assert (BitRate.parse("1.6Tb/s").gbit, ByteRate.parse("3.35TB/s").gb) == (1600.0, 3350.0)
    assert (Watts.parse("10.2kW").kw, Percent.parse("80%").fraction) == (10.2, 0.8)
    assert Bytes.parse("1500000", bare="MiB").mib == 1500000
    assert Bytes.parse("2GiB", bare="MiB").mib == 2048


@pytest.mark.parametrize("mix", [lambda a, b: a + b, lambda a, b: a < b, lambda a, b: b + a])
def test_different_types_do_not_mix(mix: Callable[[Any, Any], object]) -> None:
    with pytest.raises(TypeError):
        mix(BitRate.parse("8b/s"), ByteRate.parse("1B/s"))
    assert Bytes(1) != BitRate(1)


def test_sums_and_multiples() -> None:
    assert 8 * Watts.parse("700W") == Watts.parse("700W") * 8 == Watts.parse("5.6kW")
    assert sum([Bytes.parse("1GiB"), Bytes.parse("512MiB")], Bytes(0)) == Bytes.parse("1.5GiB")


@pytest.mark.slow
@given(st.sampled_from([Bytes, BitRate, ByteRate, Watts]), st.integers(0, 2**60))
def test_canonical_texts_parse_to_the_same_value(kind: Any, value: int) -> None:
    assert kind.parse(str(kind(value))) == kind(value)


@pytest.mark.slow
@given(st.integers(0, 2**31 - 1))
def test_slurm_form_parses_to_the_same_duration(seconds: int) -> None:
    assert Duration.parse(Duration(seconds).slurm()) == Duration(seconds)


@pytest.mark.slow
@example(ByteRate, "0PIB/S")
@given(
    st.sampled_from(TYPES),
    st.one_of(st.text(max_size=30), st.from_regex(r"[0-9.,:-]{1,12} ?[kMGTPdhms%]?i?[bB]?(/s)?")),
)
def test_any_text_is_a_quantity_or_a_unit_error(kind: Any, text: str) -> None:
    try:
        quantity = kind.parse(text)
    except UnitError:
        return
    assert kind.parse(str(quantity)) == quantity


class Machine(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    memory: Bytes
    limit: Minutes | None = None
    grace: Seconds | None = None
    kept: Duration | None = None
    period: Annotated[int, Field(ge=1, le=600), Bare("second")] = 5
    end: Bytes | Literal["rest"] = "rest"


def test_as_fields_of_a_model() -> None:
    machine = Machine.model_validate({"memory": "1.5TiB", "limit": 90, "end": "4MiB"})
    assert machine.memory == Bytes.parse("1.5TiB")
    assert machine.limit == Duration.parse("1h30m")
    assert json.loads(machine.model_dump_json(exclude_defaults=True)) == {
        "memory": "1.5TiB",
        "limit": "01:30:00",
        "end": "4MiB",
    }
    assert Machine(memory=machine.memory).memory is machine.memory
    schema = Machine.model_json_schema()
    assert schema["properties"]["memory"]["type"] == "string"


@pytest.mark.parametrize(
    ("value", "message", "hint"),
    [
        (1500000, "1500000 has no unit", "write 1500000MiB"),
        (1.5, "1.5 has no unit", "write 1.5TiB or 1.5TB"),
        (True, "this must be a quantity such as 1.5TiB", None),
        (None, "this must be a quantity such as 1.5TiB", None),
        (["1GiB"], "this must be a quantity such as 1.5TiB", "write 1GiB"),
    ],
)
def test_a_wrong_field_is_a_unit_error_with_its_hint(value: object, message: str, hint: str | None) -> None:
    with pytest.raises(ValidationError) as caught:
        Machine.model_validate({"memory": value})
    (error,) = caught.value.errors()
    assert (error["type"], error["loc"], error["msg"]) == ("unit-wrong", ("memory",), message)
    assert error["ctx"].get("hint") == hint


def test_a_bare_number_has_the_unit_of_its_field() -> None:
    values = {"memory": "1GiB", "limit": 120, "grace": 120, "period": 120}
    machine = Machine.model_validate(values)
    assert (machine.limit, machine.grace, machine.period) == (Duration(7200), Duration(120), 120)
    for text in ("120", " 120 "):
        assert Machine.model_validate({**values, "grace": text, "limit": text, "period": text}) == machine
    assert Machine.model_validate({**values, "grace": "2min", "limit": "2h", "period": "2min"}) == machine


@pytest.mark.parametrize(
    ("field", "value", "message", "hint"),
    [
        ("kept", 30, "30 has no unit", "write 30d, 30h, 30min or 30s"),
        ("kept", "30", "30 has no unit", "write 30d, 30h, 30min or 30s"),
        (
            "period",
            "unlimited",
            "unlimited is not a valid duration",
            "write 30min, 24h, 7d, 2h30m or Slurm's 7-12:00:00",
        ),
        ("period", "5 moons", "'5 moons' is not a duration", "write 30min, 24h"),
        ("period", "11min", "Input should be less than or equal to 600", ""),
    ],
)
def test_a_length_of_time_that_its_field_refuses(field: str, value: object, message: str, hint: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Machine.model_validate({"memory": "1GiB", field: value})
    (error,) = caught.value.errors()
    assert error["msg"] == message
    assert error["ctx"].get("hint", "").startswith(hint)


def test_ages_are_hours_days_or_months() -> None:
    assert [str(Age.parse(text)) for text in ("2years", "1 week", "24months", "1d", "12 Hours")] == [
        "24months",
        "7days",
        "24months",
        "1day",
        "12hours",
    ]


@pytest.mark.parametrize("value", [True, None, [1], {"a": 1}])
def test_a_length_of_time_is_no_switch_and_no_list(value: object) -> None:
    for unit in (None, "minute"):
        with pytest.raises(UnitError, match="quantity"):
            Duration.from_input(value, unit)  # type: ignore[arg-type]
