"""Anything at all as a manifest: files that cannot be read, and files that are no manifest."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from clustergen.cli import group
from clustergen.diagnostics import Place, exit_code
from clustergen.manifest import source as source_module
from clustergen.manifest.source import Source, load


def only(source: Source) -> tuple[str, str, str | None]:
    """Code, message and hint of the one thing that is wrong."""
    assert source.data is None
    (diagnostic,) = source.diagnostics
    return diagnostic.code, diagnostic.message, diagnostic.hint


@pytest.fixture
def unprivileged() -> Iterator[None]:
    """Permissions mean nothing to root, so root reads as somebody else here."""
    before = os.geteuid()
    if before == 0:
        os.seteuid(65534)
    yield
    os.seteuid(before)


@pytest.fixture
def locked(tmp_path: Path) -> Path:
    path = tmp_path / "manifest.yaml"
    path.write_text("name: x\n")
    path.chmod(0)
    return path


class TestUnreadable:
    code = "file-unreadable"

    def check(self, path: Path | str, message: str, hint: str | None = None) -> None:
        source = load(path)
        assert only(source) == (self.code, f"cannot read this file: {message}", hint)
        assert source.diagnostics[0].place == Place(str(path))
        assert exit_code(source.diagnostics) == 3

    def test_missing(self, tmp_path: Path) -> None:
        self.check(tmp_path / "manifest.yaml", "no such file or directory")

    def test_missing_with_a_neighbour(self, tmp_path: Path) -> None:
        (tmp_path / "manifest.yaml").touch()
        self.check(tmp_path / "manifst.yml", "no such file or directory", "did you mean 'manifest.yaml'?")

    def test_directory(self, tmp_path: Path) -> None:
        self.check(tmp_path, "it is a directory")
        (tmp_path / "manifest.yaml").touch()
        source = load(tmp_path)
        assert only(source)[2] is not None
        assert "manifest.yaml" in str(source.diagnostics[0].hint)

    def test_pipe_without_a_writer(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe")
        hint = "validate reads one as standard input: COMMAND | clustergen validate -"
        self.check(tmp_path / "pipe", "it is a pipe or a device, not a file", hint)

    @pytest.mark.parametrize("device", ["/dev/zero", "/dev/null", "/dev/full"])
    def test_device(self, device: str) -> None:
        self.check(device, "it is a pipe or a device, not a file")

    def test_dangling_link(self, tmp_path: Path) -> None:
        (tmp_path / "m").symlink_to("gone.yaml")
        self.check(tmp_path / "m", "no such file or directory", "it is a link to 'gone.yaml', which does not exist")

    def test_link_to_itself(self, tmp_path: Path) -> None:
        (tmp_path / "m").symlink_to("m")
        assert only(load(tmp_path / "m"))[0] == self.code

    def test_no_permission(self, locked: Path, unprivileged: None) -> None:
        self.check(locked, "permission denied")

    def test_below_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "m").touch()
        self.check(tmp_path / "m" / "n", "not a directory")

    def test_a_stream_without_an_end(self) -> None:
        assert only(load("/proc/kmsg"))[0] == self.code

    @pytest.mark.slow
    @pytest.mark.parametrize("name", ["\udcff\udcfe.yaml", "m\nPartitionName=x .yaml", "m\x1b[2K.yaml", "m\u202e.yaml"])
    def test_a_name_that_no_header_can_hold(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / name
        path.write_text("name: x\n")
        assert "is not printable UTF-8 text" in only(load(path))[1]
        done = subprocess.run(
            [sys.executable, "-m", "clustergen", "render", path], capture_output=True, timeout=300, check=False
        )
        assert done.returncode == 3
        assert done.stderr.decode().replace("\n", "").isprintable()
        assert [place.name for place in tmp_path.iterdir()] == [name]

    @pytest.mark.parametrize("name", ["a\0b", "x" * 5000, "\udc80.yaml"])
    def test_names_that_no_file_can_have(self, name: str) -> None:
        assert only(load(name))[0] == self.code

    def test_the_command_ends_with_3_and_shows_no_traceback(self, tmp_path: Path) -> None:
        result = CliRunner().invoke(group, ["validate", str(tmp_path / "gone.yaml")])
        assert result.exit_code == 3
        assert "error[file-unreadable]" in result.stderr
        assert "Traceback" not in result.stderr


class TestNotUtf8:
    """The page of the code names this: "file-not-utf8"."""

    def test_latin_1(self) -> None:
        source = Source("m", "name: x\n# caf\u00e9 \u00fc\n".encode("latin-1"))
        code, message, hint = only(source)
        assert (code, message) == ("file-not-utf8", "byte 0xE9 is not UTF-8")
        assert "'é'" in str(hint)
        assert source.diagnostics[0].place == Place("m", 2, 6, 7)

    @pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-16-be-bom"])
    def test_utf_16(self, encoding: str) -> None:
        text = "name: é\n"
        raw = b"\xfe\xff" + text.encode("utf-16-be") if encoding.endswith("bom") else text.encode(encoding)
        code, message, hint = only(Source("m", raw))
        assert (code, message) == ("file-not-utf8", "this file is UTF-16 text")
        assert "iconv -f UTF-16" in str(hint)

    @pytest.mark.parametrize("raw", [b"\x7fELF\x02\x01\x01\0\0", b"name: x\0y\n", bytes(range(256)), b"\x1f\x8b\x08\0"])
    def test_binary(self, raw: bytes) -> None:
        assert only(Source("m", raw))[:2] == ("file-not-utf8", "this file is binary, not text")

    def test_a_cut_character_at_the_end(self) -> None:
        source = Source("m", "name: é".encode()[:-1])
        assert only(source)[0] == "file-not-utf8"
        assert source.diagnostics[0].place == Place("m", 1, 7, 8)


class TestTooLarge:
    """The page of the code names this: "file-too-large"."""

    def test_too_many_bytes(self, tmp_path: Path) -> None:
        path = tmp_path / "m"
        with path.open("wb") as file:
            file.truncate(50_000_000)
        assert only(load(path))[:2] == ("file-too-large", "larger than 8 MB")

    @pytest.mark.slow
    def test_too_many_values(self) -> None:
        source = Source("m", b"a: [" + b"1," * 300_001 + b"]")
        assert only(source)[:2] == ("file-too-large", "more than 300,000 values")


def test_the_page_of_unreadable_files() -> None:
    assert TestUnreadable.code == "file-unreadable"


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\n\n",
        b"# only\n  # comments\n",
        b"---\n",
        b"--- ~\n",
        b"{}\n",
        b"\xef\xbb\xbf",
        b"null",
    ],
)
def test_empty(raw: bytes) -> None:
    assert only(Source("m", raw))[:2] == ("manifest-empty", "the manifest is empty")


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        (b"- a\n- b\n", "the manifest is a list"),
        (b"[]", "the manifest is a list"),
        (b"42", "the manifest is the single value '42'"),
        (b"some words\n", "the manifest is the single value 'some words'"),
        (b"name:tiny\n", "the manifest is the single value 'name:tiny'"),
        (b"'quoted'", "the manifest is the single value 'quoted'"),
    ],
)
def test_not_a_mapping(raw: bytes, message: str) -> None:
    assert only(Source("m", raw))[:2] == ("manifest-not-a-mapping", message)


def test_a_glued_colon_is_named() -> None:
    assert only(Source("m", b"name:tiny\n"))[2] == "add a space after the colon of 'name'"


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("a: \x07\n", 4, "the control character U+0007 is not allowed in YAML"),
        ("a: b\x1b[0m\n", 5, "the control character U+001B is not allowed in YAML"),
        ("a: x\ufeff\n", 5, "the text contains a byte order mark"),
        ("a: \ufffe\n", 4, "the control character U+FFFE is not allowed in YAML"),
    ],
)
def test_control_characters(text: str, column: int, message: str) -> None:
    source = Source("m", text.encode())
    assert only(source)[:2] == ("yaml-syntax", message)
    assert source.diagnostics[0].place == Place("m", 1, column, column + 1)


def test_the_hash_is_that_of_the_bytes() -> None:
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    assert Source("m", b"").sha256 == empty
    assert Source("m", b"\xef\xbb\xbfa: 1").sha256 != Source("m", b"a: 1").sha256


def test_the_limit_is_stated_in_the_message() -> None:
    assert source_module.MAX_BYTES == 8_000_000
