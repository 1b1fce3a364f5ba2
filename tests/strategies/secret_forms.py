"""Forms of secrets and of harmless values, from tests/fixtures/secrets, filled with random values.

The repository holds no value: `<hex:40>` stands for 40 random hexadecimal digits, which the row's own text seeds.
"""

import base64
import random
import re
import string
import uuid
from functools import cache
from pathlib import Path
from typing import NamedTuple
from zlib import crc32

_DIRECTORY = Path(__file__).parents[1] / "fixtures" / "secrets"
_PLACE = re.compile(r"<(pw|jwt|uuid|mac|(?:hex|HEX|b64u?|B32|key|an|AN|low|d|bytes)(?::(\d+)))>")
_ALPHABETS = {
    "hex": "0123456789abcdef",
    "HEX": "0123456789ABCDEF",
    "B32": string.ascii_uppercase + "234567",
    "key": string.ascii_letters + string.digits + "+/",
    "an": string.ascii_letters + string.digits,
    "AN": string.ascii_uppercase + string.digits,
    "low": string.ascii_lowercase + string.digits,
    "d": string.digits,
}
_PASSWORDS = ("hunter{}hunter{}", "Summer{}zX{}", "{}Kupfer!dachs{}", "correct-{}-Horse{}")


class Form(NamedTuple):
    """One row. `where`: `variable`, `option`, `text` or `site PATH`; `values`: the random parts of `text`."""

    where: str
    form: str
    source: str
    text: str
    values: tuple[str, ...]
    content: bytes
    """Of a site's file."""

    @property
    def is_measured(self) -> bool:
        """True if the row was collected before the rules; those of the trial, and those of single rules, were not."""
        return not self.source.startswith(("trial", "rule"))

    @property
    def is_held_out(self) -> bool:
        """True if the row is in the third that was not looked at while the rules were written."""
        return self.is_measured and crc32(self.form.encode()) % 3 == 0

    @property
    def path(self) -> str:
        """A site file's path below `site/`."""
        return self.where.removeprefix("site ")

    @property
    def manifest(self) -> str:
        """A manifest with the text; empty for a site file."""
        if self.where == "variable":
            return f"name: x\nansible:\n  variables:\n    {self.text}\n"
        if self.where == "option":
            return f"name: x\nslurm:\n  options:\n    {self.text}\n"
        if self.where == "text":
            return "name: x\ndescription: '" + self.text.replace("'", "''") + "'\n"
        return ""


@cache
def forms(name: str, seed: int = 0) -> tuple[Form, ...]:
    """The rows of `secrets` or `harmless`."""
    lines = (_DIRECTORY / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    rows = (line.split("\t") for line in lines[2:])
    return tuple(_filled(where, form, source, seed) for where, form, source in rows)


def _filled(where: str, form: str, source: str, seed: int) -> Form:
    rng = random.Random(f"{where} {form} {seed}")
    values: list[str] = []

    def value(match: re.Match[str]) -> str:
        values.append(_value(rng, match[1].partition(":")[0], int(match[2] or 0)))
        return values[-1]

    text = _PLACE.sub(value, form.replace("\\n", "\n").replace("\\\n", "\\n") if where.startswith("site") else form)
    return Form(where, form, source, text, tuple(values), text.encode("latin-1"))


def _value(rng: random.Random, kind: str, size: int) -> str:
    if kind == "pw":
        return rng.choice(_PASSWORDS).format(rng.randint(2, 9), rng.randint(10, 99))
    if kind == "uuid":
        return str(uuid.UUID(int=rng.getrandbits(128), version=4))
    if kind == "mac":
        return ":".join(f"{byte:02x}" for byte in rng.randbytes(6))
    if kind == "bytes":
        return rng.randbytes(size).decode("latin-1")
    if kind in ("b64", "b64u"):
        encode = base64.b64encode if kind == "b64" else base64.urlsafe_b64encode
        return encode(rng.randbytes(size)).decode()
    if kind == "jwt":
        head, body = (
            base64.urlsafe_b64encode(part).decode().rstrip("=") for part in (b'{"alg":"HS256"}', b'{"sun":"a"}')
        )
        return f"{head}.{body}.{base64.urlsafe_b64encode(rng.randbytes(32)).decode().rstrip('=')}"
    return "".join(rng.choices(_ALPHABETS[kind], k=size))
