"""Releases compare by their first two numbers."""

import copy
import pickle

import pytest

from clustergen.catalogue.versions import BeegfsVersion, NcclVersion, SlurmRelease


def test_order() -> None:
    texts = ["25.05", "20.11", "24.11", "24.05", "26.05"]
    assert [str(r) for r in sorted(map(SlurmRelease, texts))] == ["20.11", "24.05", "24.11", "25.05", "26.05"]
    assert NcclVersion("2.8") < NcclVersion("2.21")
    assert BeegfsVersion("7.4") < BeegfsVersion("8.0")


@pytest.mark.parametrize("text", ["24.11", "24.11.5", "24.11.5-4+deb13u1", "24.11.0~rc1", " 24.11 "])
def test_the_text_after_the_release_is_dropped(text: str) -> None:
    release = SlurmRelease(text)
    assert release == SlurmRelease("24.11")
    assert hash(release) == hash(SlurmRelease("24.11"))
    assert (str(release), repr(release)) == ("24.11", "SlurmRelease('24.11')")


def test_months_keep_their_nought() -> None:
    assert str(SlurmRelease("25.5")) == "25.05"
    assert str(NcclVersion("v2.8.4-1")) == "2.8"


@pytest.mark.parametrize("text", ["", "24", "latest", "24.x", "24.11x", "²4.11"])
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is not a version such as 24\.11"):
        SlurmRelease(text)


def test_copies() -> None:
    release = SlurmRelease("24.11")
    assert copy.deepcopy(release) == release
    assert pickle.loads(pickle.dumps(release)) == release
