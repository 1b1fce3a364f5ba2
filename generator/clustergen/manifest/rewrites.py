"""Texts as other tools write them → hints with the form that the manifest takes."""

import contextlib
import re
from collections.abc import Callable
from ipaddress import ip_network

Fits = Callable[[str], bool]


def as_hosts(value: str, fits: Fits) -> str | None:
    """Blanks, braces or colons in a host list; a prefix length behind an address."""
    address, slash, length = value.rpartition("/")
    if slash and length.isdigit() and re.match(r"\d+\.|[0-9a-fA-F]*:", address):
        return f"write {address}: the prefix length is part of the network's cidr"
    if "!" in value:
        return "list the nodes that remain: a host list excludes none"
    hosts = re.sub(r"[{(](\d+)(?:\.\.|-|:)(\d+)[)}]", r"[\1-\2]", value.strip())
    hosts = re.sub(r"\s+|\s*,\s*", ",", hosts)
    return f"write {hosts}" if hosts != value and fits(hosts) else None


def as_network(value: str, _: Fits) -> str | None:
    """An address with a netmask, or without a prefix length."""
    with contextlib.suppress(ValueError):
        if "/" in value:
            return f"write {ip_network(value, strict=False)}"
        network = ip_network(f"{value}/{64 if ':' in value else 24}", strict=False)
        return f"add the prefix length, as {network}"
    return None


def as_path(value: str, fits: Fits) -> str | None:
    """A path without its first slash."""
    return f"write /{value}" if fits(f"/{value}") else None


def as_device(value: str, fits: Fits) -> str | None:
    """A disk or a UUID alone: `nvme0n1`."""
    prefix = "UUID=" if re.fullmatch(r"[0-9A-Fa-f]{4,}(-[0-9A-Fa-f]+)+", value) else "/dev/"
    return f"write {prefix}{value}" if fits(prefix + value) else None


def as_server(value: str, fits: Fits) -> str | None:
    """A URL where a host is expected, `ldaps://ldap1.example.org:636/`, or an address with its prefix length."""
    host = re.sub(r"^\w+://|/[0-9]*$", "", value)
    tries = (host, host.rpartition(":")[0])
    return next((f"write {one}" for one in tries if host != value and one and fits(one)), None)


def as_login(value: str, fits: Fits) -> str | None:
    """A name in capitals, or an address of mail."""
    login = value.partition("@")[0].lower()
    return f"write {login}" if fits(login) else None


def as_mail(value: str, fits: Fits) -> str | None:
    """An address with a name: `Operators <ops@example.org>`."""
    address = re.sub(r"^(?:.*<|mailto:)|>$", "", value)
    return f"write {address}" if fits(address) else None


def as_url(value: str, fits: Fits) -> str | None:
    """A host without a protocol."""
    return f"write https://{value}" if "://" not in value and "." in value and fits(f"https://{value}") else None


def as_mac(value: str, fits: Fits) -> str | None:
    """A hardware address with dashes, dots or capitals."""
    digits = re.sub(r"[:.-]", "", value.strip().lower())
    mac = ":".join(digits[at : at + 2] for at in range(0, len(digits), 2))
    return f"write {mac}" if fits(mac) else None


def as_capitals(value: str, fits: Fits) -> str | None:
    """A variable's name in lower case."""
    return f"write {value.upper()}" if fits(value.upper()) else None


def as_domain(value: str, fits: Fits) -> str | None:
    """A name with capitals, with dots around it, or among other words: `server ntp.example.org iburst`."""
    names = [re.sub(r"^\w+://|/.*$", "", word).strip(".").lower() for word in value.split()]
    return next((f"write {name}" for name in names if fits(name) and (len(names) == 1 or "." in name)), None)


def as_date(value: str, fits: Fits) -> str | None:
    """A date by day or month first; both where it can be either."""
    parts = re.split(r"[./ -]", value.strip())
    if len(parts) != 3 or not all(part.isdigit() for part in parts):
        return None
    first, middle, last = parts
    orders = [(first, middle, last)] if len(first) == 4 else [(last, middle, first)]
    if "/" in value and len(last) == 4:
        orders.append((last, first, middle))
    dates = dict.fromkeys("-".join((year, month.zfill(2), day.zfill(2))) for year, month, day in orders)
    return " or ".join(f"write {date}" for date in dates if fits(date)).replace("or write", "or") or None


def as_release(value: str, fits: Fits) -> str | None:
    """A release of Slurm with its patch version or a package's suffix: `24.11.5-1`."""
    major = ".".join(re.findall(r"\d+", value)[:2])
    return f'write "{major}"' if fits(major) else None
