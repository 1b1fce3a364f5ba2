"""The look of a value: generated, chosen as a password, or only a reference to the place of a secret."""

from __future__ import annotations

import re

# Says where a secret is and not what it is: a path of two parts or more, a variable, a template, nothing.
_REFERENCE = (
    r"\s*+(?:/[A-Za-z][\w.@+-]*(?:/[\w.@+-]+)+/?|https?://[^\s:@]+|[\w.-]+\.(?:key|pem|crt|cert|asc|pub|p12)|id_\w+"
    r"|\d+@[\w.-]+"  # a licence server's port and host
    r"|\{\{-?\s*[A-Za-z_](?s:.*)\}\}|\$\{[^{}]*\}|\$[A-Z_][A-Z0-9_]*"
    r"|(?:file:/|env:|vault:).*|<[^<>]*>|[*•x.]+"
    r"|(?i:none|null|omit|true|false|yes|no|prompt)|(?:ssh|ecdsa|sk-ssh)-\S+ .*)?\s*"
)
# In a script or a configuration file, also: any variable, a command, a call, a placeholder in capitals or %s.
_REFERENCE_IN_TEXT = (
    r"/.*|\w+:/.*|\$[\w({@*#?].*|`.*|%.*|[{<\[(*].*|[\w.]+[(\[].*|[A-Z_]+|[•.x*]+|\\.*|(?i:none|null|omit|true|false)"
    r"|(?i:prompt)|https?://[^\s:@]+|[\w.-]+\.(?:key|pem|crt|cert|asc|pub|p12)|\d+@[\w.-]+"
    r"|(?:Bearer|Basic)|(?:compat|files|sss|systemd|ldap|nis|db)"  # a scheme; nsswitch.conf
)
_BASE64 = r"(?=.*[+/=])(?:[A-Za-z0-9+/]{4}){6,}(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"
_KINDS = ("[a-z]", "[A-Z]", "[0-9]")
_ENOUGH = 400  # characters that show what a longer value is
# Words with digits that nobody chooses as a password: names and numbers, versions, sizes, addresses, hosts, times.
_ORDINARY = (
    r"[a-z]+[-_.]?\d+|[A-Z][a-z]+[-_.]?\d{1,3}|v?\d[\d.,:/x-]*[A-Za-z%]{0,4}|(?:[\w-]+\.)+[A-Za-z]{2,}\d?|[\dA-Fa-f:.-]+"
    r"|[A-Z][A-Z\d]*[-_]?\d+|.*(?:\.\.\.|…)"
    r"|[a-z]{2,4}-[a-z]{1,2}\d{2,4}"  # a model: dgx-h100
    r"|[\dA-Fa-f.:]+@(?:tcp|o2ib|kfi)\d{0,3}"  # a NID of LNet
)


def is_reference(value: str) -> bool:
    """True if a value says where a secret is (a path, a variable, a template) or nothing, rather than what it is."""
    return re.fullmatch(_REFERENCE, value) is not None


def is_reference_in_text(value: str) -> bool:
    """The same as `is_reference`, for a word of a script or of a configuration file."""
    return re.fullmatch(_REFERENCE_IN_TEXT, value) is not None


def is_random(value: str) -> bool:
    """True if a value looks generated: three kinds of characters, hexadecimal, base32, or letters amid many digits."""
    value = value[:_ENOUGH]
    if not re.fullmatch(r"[A-Za-z0-9+_=.~/-]{12,}", value) or value.startswith("ssh-"):
        return False
    if value.startswith("/") and not re.fullmatch(_BASE64, value):
        return False
    if re.fullmatch(r"[0-9a-f]{32,}|[A-Z2-7]{16,}={0,6}", value):
        return True
    if re.fullmatch(r"[a-z0-9]{24,}|[A-Z0-9]{24,}", value):
        return _changes(value) > 5
    return all(re.search(kind, value) for kind in _KINDS)


def is_password_like(value: str) -> bool:
    """True if a word could be a password: eight characters with letters and digits that are no name with a number."""
    value = value[:_ENOUGH]
    if len(value) < 8 or re.search(r"[\s/]", value) or not re.search("[A-Za-z]", value) or not re.search(r"\d", value):
        return False
    return not re.fullmatch(_ORDINARY, value) and not is_reference_in_text(value)


def is_mixed(value: str) -> bool:
    """True if a word behind "the password is" is one: it has a letter and a digit, or a sign of passwords."""
    return len(value) > 5 and all(re.search(kind, value) for kind in ("[A-Za-z]", r"[\d!#%&*+]"))


def could_be_secret(value: str) -> bool:
    """True if the value of a key that nobody knows could be a secret in the wrong place; names and lists could not."""
    return not re.search("[:=,[]", value.rstrip("=")) and (is_random(value) or is_password_like(value))


def _changes(value: str) -> int:
    """How often letters and digits take turns."""
    return len(re.findall(r"(?<=\d)[A-Za-z]|(?<=[A-Za-z])\d", value))
