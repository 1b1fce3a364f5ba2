"""Which names hold a secret, and what their value has to look like for it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Check = Literal["any", "random", "password", "digits"]
"""The form of a name's value: anything but a reference, generated, like a password, or a number."""

# Last words of a name whose value is a secret, also as the end of a longer word (dbpassword, authtoken).
_SECRET_WORDS = (
    *("password", "passwords", "passwd", "passphrase", "passcode", "pass", "pwd", "pw", "psk", "secret", "secrets"),
    *("token", "tokens", "credential", "credentials", "bearer", "cookie", "authorization", "authtok"),
    *("contrasena", "contraseña", "passwort", "passwörter", "kennwort", "wachtwoord"),
)
_ORDINARY_WORDS = frozenset(("bypass", "compass", "multipass", "overpass", "encompass", "surpass", "trespass"))
# What makes `key` a secret one, as the word before it or glued to it.
_KEY_KINDS = re.compile(
    "access|account|activation|admin|aes|api|app|auth|client|consumer|crypt|database|db|deploy|encryption|genie|hmac|jwt"
    "|licen[cs]e|master|munge|preshared|priv|private|root|s|secret|service|session|shared|signing|slurm|storage"
    "|subscription|symmetric|wireguard"
)
_PUBLIC = frozenset(("host", "known", "pub", "public"))  # with key: everybody may see it
# Words behind a secret's name that do not make it harmless, as in password_hash; file, path, ttl, name … do.
_QUALIFIERS = re.compile(
    r"b64|base64|cleartext|content|crypt|current|data|default|hash|hashed|json|literal|md5|new|old|plain|plaintext|raw"
    r"|sha256|sha512|str|string|text|values?|\d+"
)
# Names that hold a secret now and then: what counts is what the value looks like.
_DOUBTFUL_WORDS: dict[str, Check] = {
    **dict.fromkeys(("auth", "encrypt", "jwt", "key", "keys", "keytab", "licence", "license", "licenses"), "random"),
    **dict.fromkeys(("gossip", "hmac", "hs256", "munge", "ngc", "otp", "seed", "totp", "wandb", "wireguard"), "random"),
    **dict.fromkeys(("community", "login", "luks", "priv", "private", "shared"), "password"),
    "pin": "digits",
}
# Behind a password's name, what makes it a description of the password and not the password.
_ABOUT = re.compile(
    r"age|algorithm|auth\w*|command|count|days|dir|directory|enabled|encryption|env|expiry|field|file|files|help|hint"
    r"|hours|id|interval|key|length|lifetime|limit|manager|max|method|min|mode|name|note|path|policy|prompt|provider|ref"
    r"|required|reset|retries|rotation|rules|script|seconds|store|strength|timeout|ttl|type|uri|url|user|username"
)
_PASSWORD = re.compile(r".*(?:password|passwd|passphrase|passcode)s?|pass|pwd")
_WORD = r"[A-Z]+(?![a-zà-ÿ])\d*|[A-Z]?[a-zà-ÿ]+\d*|\d+"
# Words of which one letter may be missing, doubled, changed or out of place; and keys of Slurm, where two may be.
_MISSPELT = ("password", "passwd", "passphrase", "passcode", "passwort", "pass", "secret", "token", "credential")
_SLURM = ("storagepass", "jobcomppass", "accountingstoragepass", "defaultstoragepass", "profileinfluxdbpass")


@lru_cache(maxsize=8192)
def check_of(name: str) -> Check | None:
    """The check that decides if the value of a key is a secret; None where it never is one."""
    words = [word.lower() for word in re.findall(_WORD, name)]
    if not words:
        return None
    if words[-2:] == ["secret", "id"]:  # Vault's AppRole
        return "any"
    if any(map(_PASSWORD.fullmatch, words)) and not _ABOUT.fullmatch(words[-1]):  # also password_root
        return "any" if words[-1] not in _ORDINARY_WORDS else None
    if words[-1] == "community" and len(words) > 1:  # SNMP's
        return "any"
    while len(words) > 1 and _QUALIFIERS.fullmatch(words[-1]):
        qualifier = words.pop()
        if qualifier == "content" and words[-1] == "file":
            words.pop()
    return _check_of(words)


def _check_of(words: list[str]) -> Check | None:
    """The same as `check_of`, for the words of a name without qualifiers."""
    last = words[-1].rstrip("0123456789") if words else ""
    if last and "".join((*words[-2:-1], last)).endswith(_SECRET_WORDS) and last not in _ORDINARY_WORDS:  # pass_phrase
        return "any"
    if last in ("key", "keys"):
        if _PUBLIC.intersection(words[-2:-1]):
            return None
        return "any" if len(words) > 1 and _KEY_KINDS.fullmatch(words[-2]) else "random"
    if last.endswith(("key", "keys")) and _KEY_KINDS.fullmatch(last.removesuffix("s").removesuffix("key")):
        return "any"
    if last == "auth" and words[-2:-1] in (["basic"], ["http"]):
        return "any"
    return _DOUBTFUL_WORDS.get(last) or _DOUBTFUL_WORDS.get(words[-1] if words else "")


@lru_cache(maxsize=8192)
def is_misspelt(name: str) -> bool:
    """True if a name is probably meant to be that of a secret: `JobCompPas`, `db_pasword`."""
    words = [word.lower() for word in re.findall(_WORD, name)]
    if not words or check_of(name):
        return False
    if any(_distance(name.lower(), key) <= 2 for key in _SLURM):
        return True
    return any(_is_near(word, secret) for word in words[-2:] if word not in _MISSPELT for secret in _MISSPELT)


def _is_near(word: str, secret: str) -> bool:
    if len(secret) == 4:  # `path` and `port` are no misspelt `pass`
        return word in ("pas", "passs", "psas", "pss", "paas", "apss", "paswd", "pasw")
    return _distance(word, secret) <= (2 if len(secret) > 6 else 1)


def _distance(one: str, other: str) -> int:
    """Letters to insert, delete, change or swap with their neighbour; 3 stands for more than two."""
    if abs(len(one) - len(other)) > 2 or len(set(one) ^ set(other)) > 4:
        return 3
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, char in enumerate(one, 1):
        two_before, before, row = before, row, [i]
        for j, letter in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (char != letter))
            if i > 1 and j > 1 and char == other[j - 2] and one[i - 2] == letter:
                cost = min(cost, two_before[j - 2] + 1)
            row.append(cost)
    return min(row[-1], 3)
