"""Which texts are IP addresses; Python's own reading of one by one is the judge."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clustergen.hostlist.addresses import address_of, is_loopback


def judged(text: str) -> tuple[int, int] | None:
    try:
        result = ip_address(text)
    except ValueError:
        return None
    return result.version, int(result)


@pytest.mark.slow
@given(st.one_of(st.ip_addresses().map(str), st.from_regex(r"[0-9]{0,4}(\.[0-9]{0,4}){3}", fullmatch=True)))
def test_the_quick_way_and_pythons_agree(text: str) -> None:
    assert address_of(text) == judged(text)


@pytest.mark.parametrize(
    "text",
    ["", "head", "10.0.0", "10.0.0.1.2", "10.0.0.01", "10.0.0.256", "10.0.0.١", "10.0.0.1 ", "256.0.0.1", ":"],
)
def test_texts_that_are_no_addresses(text: str) -> None:
    assert address_of(text) is None
    assert judged(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [("127.0.0.1", True), ("127.9.9.9", True), ("::1", True), ("128.0.0.1", False), ("::2", False)],
)
def test_loopback(text: str, expected: bool) -> None:
    address = address_of(text)
    assert address is not None
    assert is_loopback(address) is expected
