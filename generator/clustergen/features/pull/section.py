"""Nodes that bring themselves to the tree from a git repository."""

import base64
import binascii
from collections.abc import Iterator
from contextlib import suppress
from typing import Annotated

from pydantic import AfterValidator, Field

from clustergen.diagnostics.words import cut
from clustergen.manifest.base import NOT_EMPTY, NOT_ON_A_LINE, AbsolutePath, Section, field, text
from clustergen.units import Bare

_PATH = r"[A-Za-z0-9._~/+-]+"
_NAME = r"[A-Za-z0-9][A-Za-z0-9.-]*"
_HOST = rf"{_NAME}(:[0-9]+)?"
GitUrl = Annotated[
    str,
    text(
        rf"^(https?://{_HOST}/{_PATH}|(ssh|git)://([a-z_][a-z0-9_-]*@)?{_HOST}/{_PATH}|file:///{_PATH}"
        rf"|[a-z_][a-z0-9_-]*@{_NAME}:[A-Za-z0-9._~/]{_PATH})$",
        "write https://git.example.org/cluster.git or git@git.example.org:cluster.git, without a password",
        1023,
    ),
]
"""Where git fetches from."""


def _branch(value: str) -> str:
    """Refuses what git does, as `git check-ref-format --branch` shows."""
    if ".." in value or value.endswith(".") or any(part.endswith(".lock") for part in value.split("/")):
        from pydantic_core import PydanticCustomError

        context = {"value": value, "hint": "write the name of a branch, as main"}
        raise PydanticCustomError("text-malformed", "git has no branch '{value}'", context)
    return value


Branch = Annotated[
    str,
    text(r"^[A-Za-z0-9_][A-Za-z0-9_.+-]*(/[A-Za-z0-9_][A-Za-z0-9_.+-]*)*$", "write the name of a branch, as main", 255),
    AfterValidator(_branch),
]
TreePath = Annotated[
    str,
    text(
        r"^[A-Za-z0-9_][A-Za-z0-9_.-]*(/[A-Za-z0-9_][A-Za-z0-9_.-]*)*$",
        "write a path in the repository, as clusters/a/rendered",
        255,
    ),
]
_PUB = "write the line of a .pub file, as ssh-ed25519 AAAA… name"


def _public_key(value: str) -> str:
    """Runs after the pattern, which cannot look into the key: its first field is its type, its second is not empty."""
    kind, encoded = value.split(" ")[:2]
    with suppress(binascii.Error):
        fields = list(_fields(base64.b64decode(encoded, validate=True)))
        if fields[0] == kind.encode() and len(fields) == _FIELDS[kind] and all(fields[:2]):
            return value
    from pydantic_core import PydanticCustomError

    message = "'{value}' is not a public SSH key: it is cut off, or has another type than its first word"
    raise PydanticCustomError("text-malformed", message, {"value": cut(value, 40), "hint": _PUB})


def _fields(blob: bytes) -> Iterator[bytes]:
    """The fields of RFC 4253, each with its length in front. Raises binascii.Error where one is cut off."""
    while blob:
        end = 4 + int.from_bytes(blob[:4], "big")
        if len(blob) < end:
            raise binascii.Error
        yield blob[4:end]
        blob = blob[end:]


_FIELDS = {
    "ssh-ed25519": 2,
    "ssh-rsa": 3,
    "ecdsa-sha2-nistp256": 3,
    "ecdsa-sha2-nistp384": 3,
    "ecdsa-sha2-nistp521": 3,
    "sk-ssh-ed25519@openssh.com": 3,
}
"""Type of a public key → number of its fields."""
PublicKey = Annotated[
    str,
    text(
        r"^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(256|384|521)|sk-ssh-ed25519@openssh\.com) [A-Za-z0-9+/]+={0,2}"
        rf"( [^{NOT_ON_A_LINE}]*)?$",
        _PUB,
        1500,
    ),
    AfterValidator(_public_key),
]
"""A public SSH key, as `ssh-keygen` writes it, with any comment."""


class Pull(Section):
    """Compute nodes fetch the rendered tree from git and apply it to themselves, by ansible-pull."""

    repository: GitUrl = field(
        ..., "Repository with the rendered tree, as the nodes reach it.", sample="https://git.example.org/cluster.git"
    )
    branch: Branch = field("main", "Branch that the nodes follow.")
    directory: TreePath = field("rendered", "Directory of the repository with the rendered tree.")
    library: TreePath = field("lib", "Directory of the repository with the clustergen package.")
    programs: AbsolutePath = field(
        "/opt/clustergen/bin", "Directory on the nodes with ansible-pull; /usr/bin follows it in PATH."
    )
    interval: Annotated[int, Field(ge=300, le=604800), Bare("second")] = field(
        1800, "Time between two runs; each starts up to half of it later, at random."
    )
    max_age: Annotated[int, Field(ge=3600, le=315360000), Bare("second")] = field(
        "30d", "With `signers`: age of the commit up to which a node that has none accepts it.", validate_default=True
    )
    signers: tuple[PublicKey, ...] = field(
        (), "Public SSH keys; if set, nodes apply only commits that one of them has signed."
    )


PLACES = {
    "ansible.pull": (
        Annotated[Pull | None, NOT_EMPTY],
        field(None, "Compute nodes apply the tree from git themselves; none do unless the section is present."),
    )
}
