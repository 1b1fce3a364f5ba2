"""Host lists: expansion, compression, and the errors for broken ones."""

import pytest

from clustergen.hostlist import (
    MAX_HOSTS,
    HostlistError,
    ansible_ranges,
    compress,
    contains,
    count,
    expand,
    folded,
    names_of,
    natural_key,
    validate_for_slurm,
)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("compute1", ["compute1"]),
        ("compute[01-03,10]", ["compute01", "compute02", "compute03", "compute10"]),
        ("n[9-11]", ["n9", "n10", "n11"]),
        ("n[099-101]", ["n099", "n100", "n101"]),
        ("n[01-3]", ["n01", "n02", "n03"]),
        ("n[3,1,2,2]", ["n3", "n1", "n2", "n2"]),
        ("b2,a1", ["b2", "a1"]),
        ("a b\tc ,\n d", ["a", "b", "c", "d"]),
        ("rack[0-1]n[1-2]", ["rack0n1", "rack0n2", "rack1n1", "rack1n2"]),
        ("r[0-1]s[0-1]t[5]", ["r0s0t5", "r1s0t5", "r0s1t5", "r1s1t5"]),
        ("n[1-2]-ib", ["n1-ib", "n2-ib"]),
        ("[7003-7004]", ["7003", "7004"]),
        ("10.0.0.[9-11]", ["10.0.0.9", "10.0.0.10", "10.0.0.11"]),
        ("10.0.[0-1].[1-2]", ["10.0.0.1", "10.0.0.2", "10.0.1.1", "10.0.1.2"]),
        ("fd00::[9-10]", ["fd00::9", "fd00::10"]),
    ],
)
def test_expand_and_count(text: str, names: list[str]) -> None:
    assert expand(text) == names
    assert count(text) == len(names)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        ([], ""),
        (["compute01"], "compute01"),
        (["n1", "n2", "n3", "n5"], "n[1-3,5]"),
        (["n9", "n10"], "n[9-10]"),
        (["n99", "n100"], "n[99-100]"),
        (["n1", "n01"], "n[1,01]"),
        (["n08", "n09", "n010"], "n[08-09,010]"),
        (["n2", "n1"], "n[2,1]"),
        (["n1", "n1"], "n[1,1]"),
        (["login", "n1", "n2", "head"], "login,n[1-2],head"),
        (["10.0.0.11", "10.0.0.12"], "10.0.0.[11-12]"),
        (["r0n1", "r0n2", "r1n1", "r1n2"], "r[0-1]n[1-2]"),
        (["r0n1", "r0n2", "r1n1"], "r0n[1-2],r1n1"),
        (["r1n1", "r2n1"], "r1n1,r2n1"),
        (["a0b0c0", "a0b0c1", "a0b1c0", "a0b1c1", "a1b0c0"], "a0b[0-1]c[0-1],a1b0c0"),
        ([f"a{i}b{j}c{k}" for i in (0, 1) for j in (0, 1) for k in (0, 1)], "a0b[0-1]c[0-1],a1b[0-1]c[0-1]"),
        (["a1-ib", "a2-ib"], "a1-ib,a2-ib"),
        (["n" + "9" * 18, "n1" + "0" * 18], "n" + "9" * 18 + ",n1" + "0" * 18),
    ],
)
def test_fold(names: list[str], text: str) -> None:
    assert compress(names) == text


def test_fold_in_natural_order() -> None:
    assert compress(["n10", "b", "n9", "n1"], sort=True) == "b,n[1,9-10]"
    assert sorted(["n10", "n2", "n02", "n"], key=natural_key) == ["n", "n02", "n2", "n10"]


def test_texts_that_are_no_host_names_stay_as_they_are() -> None:
    assert folded(["n10", "n2", "n10", "a b"]) == "a b,n2,n10"
    assert folded(["n10", "n9", "n10"]) == "n[9-10]"
    assert (names_of("n[1-2]"), names_of("n[2-1]"), names_of("")) == (["n1", "n2"], [], [])


def test_fold_with_text_behind_the_last_bracket_only_when_asked() -> None:
    assert compress(["a1-ib", "a2-ib"], suffixes=True) == "a[1-2]-ib"


@pytest.mark.parametrize("name", ["", "a,b", "n[1-2]", "a b", "é", "a\n"])
def test_fold_refuses_what_no_list_can_hold(name: str) -> None:
    with pytest.raises(HostlistError):
        compress(["n1", name])


@pytest.mark.parametrize(
    ("text", "offset", "length", "message", "hint"),
    [
        ("", 0, 0, "without a name", None),
        ("a,", 1, 1, "after this comma", None),
        (",a", 0, 1, "before this comma", None),
        ("a,,b", 2, 1, "before this comma", None),
        ("a,n[1-2", 3, 1, "never closed", None),
        ("n1]", 2, 1, "never opened", None),
        ("n[1-2]]", 6, 1, "never opened", None),
        ("n[[1]]", 2, 1, "nested brackets", None),
        ("a,n[]", 3, 2, "empty brackets", None),
        ("n[1,,2]", 4, 1, "a number is missing", None),
        ("a,n[1,9-5]", 6, 3, "9 is greater than 5", "[5-9]"),
        ("n[8-010]", 2, 5, "different widths", "[008-010]"),
        ("n[1-9/2]", 2, 5, "not support steps", "one by one"),
        ("n[1-9:2]", 2, 5, "not support steps", "one by one"),
        ("n[1:9]", 2, 3, "'-' separates", "[1-9]"),
        ("n[1..9]", 2, 4, "'-' separates", "[1-9]"),
        ("n[1, 2]", 4, 2, "a blank inside", "'2'"),
        ("n[5-]", 2, 2, "no end", None),
        ("n[a-c]", 2, 3, "not a number", None),
        ("n[-1]", 2, 2, "not a number", None),
        ("n*", 1, 1, "not allowed in a host name", "no wildcards"),
        ("a,b/c", 3, 1, "'/' is not allowed", None),
        ("n[" + "1" * 19 + "]", 2, 19, "more than 18 digits", None),
        ("a,n[1-65537]", 4, 7, "at most 65,536", None),
        ("a,n[0-65535]m[0-1]", 2, 16, "131,072 hosts", None),
        ("n[1-40000],m[1-40000]", 0, 21, "80,000 hosts", None),
    ],
)
def test_broken_lists_say_what_and_where(text: str, offset: int, length: int, message: str, hint: str | None) -> None:
    for read in (expand, count):
        with pytest.raises(HostlistError) as caught:
            read(text)
        error = caught.value
        assert message in error.message
        assert (error.offset, error.length) == (offset, length)
        assert (hint or "") in (error.hint or "")


def test_the_largest_range_is_read() -> None:
    assert len(expand(f"n[1-{MAX_HOSTS}]")) == MAX_HOSTS


def test_contains_looks_without_expanding() -> None:
    text = "login,rack[0-3]n[01-12],x1[0-9]"
    assert all(contains(text, name) for name in expand(text))
    for name in ("log", "login1", "rack0n1", "rack4n01", "rack0n13", "rack0n001", "x1", "x110", "n01", ""):
        assert not contains(text, name)


@pytest.mark.parametrize("text", ["n[01-08]-ib", "a,n1[2-3]x"])
def test_text_behind_the_last_bracket_needs_slurm_23_11(text: str) -> None:
    validate_for_slurm(text, "23.11", "23.11")
    validate_for_slurm(text, "24.11.5", "23.11")
    with pytest.raises(HostlistError, match="cannot read it") as caught:
        validate_for_slurm(text, "23.02", "23.11")
    error = caught.value
    assert text[error.offset : error.offset + error.length] in ("-ib", "x")


@pytest.mark.parametrize("text", ["n[01-08],n9", "n9,n[01-08]", "n[1,01]", "n[001-010],n[11-20]"])
def test_mixed_padding_is_refused_for_slurm(text: str) -> None:
    with pytest.raises(HostlistError, match="padded"):
        validate_for_slurm(text, "24.11", "23.11")


@pytest.mark.parametrize(
    "text", ["n[8-12]", "n[08-99],n[100-120]", "n[1-3],m[01-03]", "n0,n10", "rack[0-63]n[1-8]", "a"]
)
def test_plain_lists_are_fine_for_every_slurm(text: str) -> None:
    validate_for_slurm(text, "22.05", "23.11")


def test_an_address_is_no_slurm_host() -> None:
    with pytest.raises(HostlistError, match="address") as caught:
        validate_for_slurm("a,fd00::1", "24.11", "23.11")
    assert (caught.value.offset, caught.value.length) == (2, 7)


@pytest.mark.parametrize(
    ("text", "patterns"),
    [
        ("compute[01-08,10],login", ["compute[01:08]", "compute10", "login"]),
        ("n[08-120]", ["n[08:99]", "n[100:120]"]),
        ("n[0-12]", ["n[0:12]"]),
        ("rack[0-1]n[01-12]", ["rack[0:1]n[01:12]"]),
        ("a[1-2,5]b[1-2]", ["a[1:2]b[1:2]", "a5b[1:2]"]),
    ],
)
def test_ansible_reads_the_same_hosts(text: str, patterns: list[str]) -> None:
    from ansible.plugins.inventory import detect_range, expand_hostname_range

    assert ansible_ranges(expand(text)) == patterns
    seen = [
        host
        for pattern in patterns
        for host in (expand_hostname_range(pattern) if detect_range(pattern) else [pattern])
    ]
    assert seen == expand(text)


@pytest.mark.slow
def test_as_many_names_as_slurm_takes() -> None:
    names = expand("rack[000-511]n[001-128]")
    assert len(names) == MAX_HOSTS
    assert expand(compress(names)) == names
