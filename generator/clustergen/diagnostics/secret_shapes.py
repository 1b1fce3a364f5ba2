"""What a secret looks like: names of keys that hold one, values that are one, and values that only say where one is."""

from __future__ import annotations

import re
from functools import lru_cache

# Last words of a name whose value is a secret, also as the end of a longer word (dbpassword, authtoken).
_SECRET_WORDS = (
    "password",
    "passwords",
    "passwd",
    "passphrase",
    "passcode",
    "pass",
    "pwd",
    "pw",
    "psk",
    "secret",
    "secrets",
    "token",
    "tokens",
    "credential",
    "credentials",
    "bearer",
    "cookie",
    "authorization",
    "authtok",
    "contrasena",
    "contraseña",
)
_ORDINARY_WORDS = frozenset(("bypass", "compass", "multipass", "overpass", "encompass", "surpass", "trespass"))
# What makes `key` a secret one, as the word before it or glued to it.
_KEY_KINDS = re.compile(
    "access|account|activation|admin|aes|api|app|auth|client|consumer|database|db|deploy|encryption|hmac|jwt|licen[cs]e"
    "|master|munge|preshared|priv|private|root|secret|service|session|shared|signing|slurm|storage|subscription"
    "|symmetric|wireguard"
)
# Words behind a secret's name that do not make it harmless, as in password_hash; file, path, ttl, name … do.
_QUALIFIERS = re.compile(
    r"b64|base64|cleartext|content|crypt|current|data|default|hash|hashed|json|literal|md5|new|old|plain|plaintext|raw"
    r"|sha256|sha512|str|string|text|values?|\d+"
)
# Names that hold a secret now and then: what counts is whether the value is random.
_DOUBTFUL_WORDS = frozenset(("auth", "community", "key", "keys", "licence", "license", "licenses", "login"))
# Behind a password's name, what makes it a description of the password and not the password.
_ABOUT = re.compile(
    r"age|algorithm|auth\w*|command|count|days|dir|directory|enabled|encryption|env|expiry|field|file|files|hours|id"
    r"|interval|key|length|lifetime|limit|manager|max|method|min|mode|name|path|policy|prompt|provider|ref|required|reset"
    r"|retries|rotation|rules|script|seconds|store|strength|timeout|ttl|type|uri|url|user|username"
)
_PASSWORD = re.compile(r".*(?:password|passwd|passphrase|passcode)s?|pass|pwd")
_WORD = r"[A-Z]+(?![a-zà-ÿ])\d*|[A-Z]?[a-zà-ÿ]+\d*|\d+"

# Says where a secret is and not what it is: a path of two parts or more, a variable, a template, nothing.
_REFERENCE = (
    r"\s*(?:/[A-Za-z][\w.@+-]*(?:/[\w.@+-]+)+/?|https?://[^\s:@]+|[\w.-]+\.(?:key|pem|crt|cert|asc|pub|p12)|id_\w+"
    r"|\d+@[\w.-]+"  # a licence server's port and host
    r"|\{\{-?\s*[A-Za-z_](?s:.*)\}\}|\$\{[^{}]*\}|\$[A-Z_][A-Z0-9_]*"
    r"|(?:file:/|env:|vault:).*|<[^<>]*>|[*•x.]+"
    r"|(?i:none|null|omit|true|false|yes|no|prompt)|(?:ssh|ecdsa|sk-ssh)-\S+ .*)?\s*"
)
# In a script or a configuration file, also: any variable, a command, a call, a placeholder in capitals or %s.
_REFERENCE_IN_TEXT = (
    r"/.*|\$[\w({@*#?].*|`.*|%.*|[{<\[(*].*|[\w.]+[(\[].*|[A-Z_]+|[•.x*]+|\\.*|(?i:none|null|omit|true|false|prompt)"
    r"|https?://[^\s:@]+|[\w.-]+\.(?:key|pem|crt|cert|asc|pub|p12)|\d+@[\w.-]+"
    r"|(?:Bearer|Basic)|(?:compat|files|sss|systemd|ldap|nis|db)"  # a scheme; nsswitch.conf
)

_SHAPES = (
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?s:.*?-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----)?",
    r"BEGIN [A-Z0-9 ]*PRIVATE KEY\b|PuTTY-User-Key-File-\d",
    r"\$ANSIBLE_VAULT;\S*",
    r"://[^\s/:@?#]{0,200}:(?!\{\{|\$\{|\$[A-Z_]+@|<|%\(|%s@)[^\s/@]{1,200}@",  # a password in a URL
    r"(?<![\w./-])[A-Za-z][\w.-]*:(?!\{\{|\$)[^\s:@/\"'\[\]]{4,100}@[\w-]+(?:\.[\w-]+)+",  # the same without a scheme
    r"(?<!\w)(?:gh[pousr]|github_pat|dckr_pat|pplx|shpat|dop_v1|dp\.pt)_[A-Za-z0-9_-]{16,}",
    r"(?<!\w)(?:npm|hf)_[A-Za-z0-9]{16,}|AGE-SECRET-KEY-1[A-Z0-9]{20,}",
    r"(?<!\w)(?:gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas)-|GR1348941|nvapi-|xapp-|sk-(?=[\w-]*\d)|sq0csp-|pypi-|tskey-)"
    r"[A-Za-z0-9_\\-]{16,}",
    r"(?<!\w)(?i:xox[a-z]-)[\w-]{11,}",
    r"(?<!\w)(?:hvs|hvb)\.[A-Za-z0-9_-]{20,}|(?<!\w)ya29\.[\w-]{20,}|(?<!\w)AIza[\w-]{35}|(?<!\w)ATATT3x[\w=-]{20,}",
    r"(?<!\w)(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}",
    r"(?i:aws.{0,20}?(?:key|pwd|pw|pass(?:word)?|token)).{0,20}?[\"'][0-9a-zA-Z/+]{40}[\"']",
    r"(?<!\w)[rs]k_(?:live|test)_[0-9A-Za-z]{16,}|(?<!\w)SG\.[\w-]{22}\.[\w-]{20,}|(?<!\w)AKC[A-Za-z0-9]{10,}",
    r"(?<!\w)(?:AC|SK)[a-z0-9]{32}(?!\w)|(?<!\w)[0-9a-z]{32}-us\d{1,2}(?!\w)|(?<!\w)\d{8,10}:[\w-]{35}(?!\w)",
    r"(?<!\w)[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27}(?!\w)",
    r"(?<!\w)eyJ[A-Za-z0-9_=-]+\.[A-Za-z0-9_=-]+(?:\.[A-Za-z0-9_.+/=-]*)?",  # a JSON web token
    r"(?i:\bhttps://(?:hooks\.slack\.com/services|discord(?:app)?\.com/api/webhooks)/[a-z0-9_/-]{4,})",
    r"\bAccountKey=[A-Za-z0-9+/=]{20,}",
    r"(?<![\w$])\$(?:1|2[abxy]|5|6|y|gy|argon2id?)\$[A-Za-z0-9./$=,-]{10,}",  # crypt(3)
    r"\b(?i:bearer) +(?=\S*\d)[A-Za-z0-9._~+/-]{12,}=*",
    r"\b(?i:basic) +(?=\S*[A-Z])(?=\S*[a-z])(?=\S*\d)[\w+/-]{12,}=*",
    # Files and commands with a syntax of their own: netrc, LDAP, SNMP, Redis, keepalived, SQL, XML, curl, ipmitool.
    r"\blogin[ \t]+\S+[ \t]+password[ \t]+[^\s$]\S+",
    r"(?im:^[ \t]*(?:rootbindpw|bindpw|requirepass|masterauth|auth_pass|r[ow]community6?)[ \t]+[^\s$#{<]\S{2,})",
    r"\bsshpass[ \t]+-p[ \t]*[\"']?[^\s\"'$]{3,}|\bipmitool\b[^\n]{0,200}?[ \t]-P[ \t]*[\"']?[^\s\"'$-]{3,}",
    r"\bcurl\b[^\n]{0,200}?[ \t]-u[ \t]*[\"']?[\w.@-]+:[^\s\"'$]{3,}",
    r"(?i:identified[ \t]+(?:with[ \t]+\S+[ \t]+)?by[ \t]+[\"'][^\"'${%]{3,}[\"'])",
    r"(?i:<(?:password|passwd|secret|token)>[^<${%\s]{3,}<)",
)
# A text without any of these, in lower case, holds no such name.
_STEMS = (
    *("pass", "pw", "psk", "secret", "token", "credential", "bearer", "cookie", "auth", "communit", "contrase"),
    *("key", "licen", "login"),
)
# Above this many characters only forms with one of these marks are looked for: such texts are generated.
_LONG = 1 << 20
_MARKS = (
    "PRIVATE KEY",
    "$ANSIBLE_VAULT",
    "://",
    "ghp_",
    "github_pat_",
    "glpat-",
    "AKIA",
    "ASIA",
    "eyJ",
    "xox",
    "nvapi-",
)
# A name and a value in free text: `password: x`, `TOKEN=x`, `"api_key": "x"`, `--pass x`.
_ASSIGNMENT = (
    r"(?<![\w.@])(?P<name>[A-Za-z_][\w.-]{0,63})(?P<closed>[\"'\]]{0,2})"
    r"(?P<sign>[ \t]{0,3}(?::=|=>|::|:|=)[ \t]{0,3})(?P<quote>[\"']?)(?=(?P<value>[^\s\"'<>,;&|`]{4,}))"
)
_FLAG = r"(?<!\S)--?(?P<name>[A-Za-z][\w-]{0,63})[ \t]+(?P<quote>[\"']?)(?P<value>[^\s\"'<>;&|`-][^\s\"'<>;&|`]{3,})"
_PATTERNS = (_ASSIGNMENT, _FLAG)


@lru_cache(maxsize=8192)
def holds_secret(name: str) -> bool | None:
    """Whether the value of a key is a secret: True by its name, None where its value has to be random, else False."""
    words = [word.lower() for word in re.findall(_WORD, name)]
    if not words:
        return False
    if words[-2:] == ["secret", "id"]:  # Vault's AppRole
        return True
    if any(map(_PASSWORD.fullmatch, words)) and not _ABOUT.fullmatch(words[-1]):  # also password_root
        return words[-1] not in _ORDINARY_WORDS
    if words[-1] == "community" and len(words) > 1:  # SNMP's
        return True
    while len(words) > 1 and _QUALIFIERS.fullmatch(words[-1]):
        words.pop()
    last = words[-1].rstrip("0123456789")
    if "".join((*words[-2:-1], last)).endswith(_SECRET_WORDS) and last not in _ORDINARY_WORDS:  # also pass_phrase
        return True
    if last in ("key", "keys"):
        return True if len(words) > 1 and _KEY_KINDS.fullmatch(words[-2]) else None
    if last.endswith(("key", "keys")) and _KEY_KINDS.fullmatch(last.removesuffix("s").removesuffix("key")):
        return True
    if last == "auth" and words[-2:-1] in (["basic"], ["http"]):
        return True
    return None if last in _DOUBTFUL_WORDS else False


def is_reference(value: str) -> bool:
    """Whether a value says where a secret is (a path, a variable, a template) or nothing, rather than what it is."""
    return re.fullmatch(_REFERENCE, value) is not None


def is_random(value: str) -> bool:
    """Whether a value looks generated: twelve characters or more of three kinds, or 32 hexadecimal digits."""
    if not re.fullmatch(r"[A-Za-z0-9+_=.~/-]{12,}", value) or value.startswith(("/", "ssh-")):
        return False
    kinds = sum(1 for kind in ("[a-z]", "[A-Z]", "[0-9]") if re.search(kind, value))
    return kinds == 3 or re.fullmatch(r"[0-9a-f]{32,}", value) is not None


def shapes_in(text: str) -> list[tuple[int, int]]:
    """Spans that are secrets by their own form: private keys, tokens with a prefix, passwords in URLs."""
    if len(text) > _LONG and not any(mark in text for mark in _MARKS):
        return []
    return [match.span() for match in re.finditer("|".join(_SHAPES), text)]


def assignments_in(text: str, strict: bool) -> list[tuple[int, int]]:
    """Spans of values that a name before them makes secret; `strict` counts references and sentences too."""
    spans = []
    for start, end in _lines_with_a_stem(text):
        matches = (each for pattern in _PATTERNS for each in re.compile(pattern).finditer(text, start, end))
        for match in matches:
            verdict = holds_secret(match["name"])
            if verdict is None:
                secret = is_random(match["value"])
            else:
                value = match["value"].rstrip("]})")
                amount = value.isdigit() and len(value) < 7 and match["name"].lower().endswith(("token", "tokens"))
                reference = amount or re.fullmatch(_REFERENCE_IN_TEXT, value)
                secret = verdict and (strict or not (reference or _is_sentence(match, text)))
            if secret:
                spans.append(match.span("value"))
    return spans


def _lines_with_a_stem(text: str) -> list[tuple[int, int]]:
    """Spans of the lines that could have a secret's name in them."""
    lower = text.lower()
    if len(lower) != len(text):
        lower = text  # a few letters change their length; the spans have to fit
    spans = set()
    for stem in _STEMS:
        at = lower.find(stem)
        while at >= 0:
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            spans.add((text.rfind("\n", 0, at) + 1, end))
            at = lower.find(stem, end)
    return sorted(spans)


def _is_sentence(match: re.Match[str], text: str) -> bool:
    """Whether `name: value` is part of a sentence: the value is a plain word, and another word follows it."""
    groups = match.groupdict()
    if groups["quote"] or ":" not in groups.get("sign", "") or not groups["value"].rstrip(",.").isalpha():
        return False
    return re.match(r"[,.]? +\w", text[match.end("value") :][:8]) is not None
