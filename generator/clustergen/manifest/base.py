"""Common ground of every section of the manifest: the base model and the scalar types.

A scalar type closes its value: nothing that fits one of them can leave its place in any file that we print.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache, partial
from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from clustergen.diagnostics.forms import Form, Sample, describe
from clustergen.hostlist import HostlistError, count
from clustergen.hostlist.addresses import cidr_problem
from clustergen.manifest.rewrites import (
    as_capitals,
    as_device,
    as_domain,
    as_hosts,
    as_login,
    as_mac,
    as_network,
    as_path,
    as_server,
    as_url,
)


class Section(BaseModel):
    """A mapping of the manifest: frozen, and every key that it does not know is an error."""

    # Deferred, validators are built of those sections alone that a command reads.
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True, defer_build=True)

    IS_OPEN: ClassVar[bool] = False
    """Extensions may add keys."""
    MEANT_BY_SCALAR: ClassVar[str] = ""
    """The key that is meant where one value is in place of the section, if the hint cannot guess it by type."""
    OTHER_NAMES: ClassVar[Mapping[str, str]] = {}
    """Names that people try as keys, in lower case and without `-` and `_` → the key that is meant."""
    SOURCE: ClassVar[str] = ""
    """A pattern of a value that stands for several keys, as host:/path; its groups have the names of these."""

    KEY_HINT: ClassVar[Callable[[str, Mapping[str, Any]], str | None] | None] = None
    """From an unknown key and the values of the section, the hint that depends on these."""

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: Any, handler: Any) -> dict[str, Any]:
        """The help of a field whose bare numbers have a unit says which."""
        schema_of_section: dict[str, Any] = handler(schema)
        for inner in handler.resolve_ref_schema(schema_of_section).get("properties", {}).values():
            parts = [inner, *inner.get("anyOf", ())]
            for sentence in dict.fromkeys(part.pop("bare") for part in parts if "bare" in part):
                inner["description"] = f"{inner.get('description', '')} {sentence}".lstrip()
        return schema_of_section


def field(default: Any, help: str, sample: str = "", names_of: str = "", **constraints: Any) -> Any:
    """A field with the sentence that the schema, editors and `clustergen explain` show. `...` makes it required, and
    `sample` is a value in YAML that a hint proposes where it is missing, after the names in the section `names_of`.
    """
    info = Field(default, description=help, **constraints)
    if sample:
        info.metadata.append(Sample(sample, names_of))
    return info


def section(model: type[Section], help: str, **absent: Any) -> Any:
    """A nested mapping that may be left out: its own defaults then hold, but for the values in `absent`."""
    # Validated only where that converts a default: the section's validator would be built for it alone.
    converts = any(info.validate_default for info in model.model_fields.values())
    make: Any = model if converts else model.model_construct
    return Field(default_factory=cache(partial(make, **absent)), description=help)


def _not_empty(value: Any) -> Any:
    """`grafana:` without a value may mean on or off, so it is neither."""
    if value is None:
        from pydantic_core import PydanticKnownError

        raise PydanticKnownError("model_type", {"class_name": "Section"})
    return value


NOT_EMPTY = BeforeValidator(_not_empty)
"""For an optional section: the key may be left out, but not be empty."""


def _hostlist(value: str) -> str:
    try:
        count(value)
    except HostlistError as err:
        from pydantic_core import PydanticCustomError

        context = {"message": err.message, "hint": err.hint, "offset": err.offset, "length": err.length}
        raise PydanticCustomError("hostlist-syntax", "{message}", context) from None
    return value


class _HostlistCheck:
    """Runs after the pattern, so that a broken bracket is reported at its place, and a stray blank as a mismatch."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(_hostlist, handler(source))


_PARENT = re.compile(r"(?:^|[/=])(\.\.?)(?=/|$)")


def _path(value: str) -> str:
    if dots := _PARENT.search(value):
        from pydantic_core import PydanticCustomError

        context = {
            "component": dots[1],
            "hint": "write the path without . and .. components",
            "offset": dots.start(1),
            "length": len(dots[1]),
        }
        raise PydanticCustomError("path-malformed", "a path cannot contain the component '{component}'", context)
    return value


class _PathCheck:
    """Runs after the pattern: `..` would move what a script creates or deletes to another directory."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(_path, handler(source))


def _with_port(value: str) -> str:
    """Runs after the pattern, which cannot say that it is the port that is missing."""
    host, _, port = value.rpartition(":")
    bare = ":" in host and not (host.startswith("[") and host.endswith("]"))
    if not host or bare or not port.isdecimal() or not 1 <= int(port) <= 65535:
        from pydantic_core import PydanticCustomError

        plain = value if bare or not host else host
        plain = "mail.example.org" if plain.startswith(":") and port.isdecimal() else plain.strip("[]")
        example = f"[{plain}]:25" if ":" in plain else f"{plain}:25"
        context = {"value": value, "hint": f"write host:port, as {example}"}
        raise PydanticCustomError("text-malformed", "'{value}' is not host:port", context)
    return value


def _cidr(value: str) -> str:
    """Runs after the pattern, which cannot count the bits."""
    if problem := cidr_problem(value):
        from pydantic_core import PydanticCustomError

        raise PydanticCustomError("cidr-malformed", "{message}", {"message": problem[0], "hint": problem[1]})
    return value


def _positive(value: Any) -> Any:
    if not value.value:
        from pydantic_core import PydanticCustomError

        message, hint = "{value} is not more than 0", "write a larger one"
        raise PydanticCustomError("value-out-of-range", message, {"value": str(value), "hint": hint})
    return value


POSITIVE = AfterValidator(_positive)
"""Refuses a quantity with a unit that is 0."""


def text(pattern: str, hint: str, limit: int = 255, **form: Any) -> Any:
    """Constraints of a text. `hint`: what to write for a text that does not match; `form`: more of its `Form`."""
    describe(pattern, Form(hint, **form))
    return StringConstraints(pattern=pattern, min_length=1, max_length=limit)


# Control characters, ends of lines, marks that turn the order of what is shown, and what YAML does not take.
NOT_ON_A_LINE = r"\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff"
Name = Annotated[
    str, text(r"^[a-z][a-z0-9_-]*$", "use lower-case letters, digits, _ and -, and begin with a letter", 63)
]
"""Name of something in the manifest: a node type, a partition, a storage entry …"""
PlaceName = Annotated[str, text(r"^[A-Za-z0-9._:-]+$", "use letters, digits, . _ : and -", 63)]
"""Name of a rack or of a row of racks: `R1`, as a host list has it, or `row_a`."""
ModelName = Annotated[str, text(r"^[A-Za-z0-9][A-Za-z0-9 ._+-]*$", "use letters, digits, blanks, . _ + and -", 63)]
"""A product of the catalogue, by its id, another name or as its maker writes it: `cx7`, `ConnectX-7`."""
SlurmName = Annotated[
    str, text(r"^[A-Za-z][A-Za-z0-9_.-]*$", "use letters, digits, _ . and -, and begin with a letter", 63)
]
"""Name that Slurm shows to users: partitions, QOS, accounts, switches, features."""
AnyName = Annotated[
    str,
    text(
        r"^[A-Za-z0-9_][A-Za-z0-9_.@+-]*$",
        "use letters, digits and _ . @ + -, and begin with a letter, a digit or _",
        63,
    ),
]
"""Slurm takes more in names of partitions, clusters, QOS and accounts than elsewhere: projects are often numbers."""
UserName = Annotated[
    str,
    text(
        r"^[a-z_][a-z0-9_.-]*$", "write the Unix login: lower-case letters, digits, _ . and -", 32, rewrite=as_login
    ),
]
Tres = Annotated[
    str,
    text(
        r"^[a-z]+(/[A-Za-z0-9_.:-]+)?$",
        "write a type, or a type and a name: cpu, mem, gres/gpu, gres/gpu:h100, license/matlab",
        80,
        others={"gpu": "gres/gpu", "gpus": "gres/gpu", "memory": "mem", "nodes": "node", "cpus": "cpu"},
    ),
]
Word = Annotated[
    str, text(r"^[A-Za-z0-9_]+(=[A-Za-z0-9_.:/-]+)?$", "write one word or word=value, without blanks: bf_window=10080")
]
"""A word of one of Slurm's lists, with its value where it takes one: `bf_window=10080`."""
HostName = Annotated[
    str, text(r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", "use lower-case letters, digits and -, without a domain: gpu-01", 63)
]
HostList = Annotated[
    str,
    text(r"^[A-Za-z0-9\[\],._:-]+$", "write a host list as in Slurm: gpu-[01-08],login1", 65535, rewrite=as_hosts),
    _HostlistCheck,
]
"""Host names in Slurm's folded form: `compute[01-08],login1`."""
AddressList = HostList
"""IP addresses in the same folded form: `10.0.0.[11-18]`."""
Cidr = Annotated[
    str,
    text(r"^[0-9a-fA-F.:]+/[0-9]{1,3}$", "write address and prefix length, as 10.0.0.0/24", 49, rewrite=as_network),
    AfterValidator(_cidr),
]
"""A network: `10.0.0.0/24`, `2001:db8::/64`."""
Address = Annotated[str, text(r"^[0-9a-fA-F.:]+$", "write an IP address, as 10.0.0.11", 45, rewrite=as_server)]
Host = Annotated[
    str,
    text(
        r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$|^[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F.]*$",
        "write a host name or an IP address",
        rewrite=as_server,
    ),
]
"""A host name or address."""
Endpoint = Annotated[
    str,
    text(
        r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(:[0-9]{1,5})?$|^[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F.]*$",
        "write a host name or an IP address, or host:port",
        rewrite=as_server,
    ),
]
"""A host name or address, with a port where one fits."""
HostPort = Annotated[
    str,
    text(
        r"^[A-Za-z0-9._-]+(:[0-9]+)?$|^\[?[0-9A-Fa-f:.]+\]?(:[0-9]+)?$",
        "write host:port, as mail.example.org:25",
        rewrite=as_server,
    ),
    AfterValidator(_with_port),
]
"""A host name or address with its port: `mail.example.org:25`, `[2001:db8::25]:25`."""
Domain = Annotated[
    str,
    text(
        r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$",
        "use lower-case letters, digits, . and -, as cluster.example.org",
        rewrite=as_domain,
    ),
]
AbsolutePath = Annotated[
    str,
    text(
        r"^(/[A-Za-z0-9_.@:+,%-]+)+/?$",
        "write an absolute path of letters, digits and _ . @ : + , % -",
        1023,
        rewrite=as_path,
        is_path=True,
    ),
    _PathCheck,
]
BlockDevice = Annotated[
    str,
    text(
        r"^/dev(/[A-Za-z0-9_.:-]+)+$",
        "write a path below /dev, as /dev/disk/by-id/nvme-eui.0025385b11b2f3a1",
        rewrite=as_device,
    ),
    _PathCheck,
]
"""A disk by its path: `/dev/disk/by-id/ata-1`."""
FileSystemDevice = Annotated[
    str,
    text(
        r"^(/dev(/[A-Za-z0-9_.:-]+)+|LABEL=[A-Za-z0-9_.-]+|UUID=[A-Fa-f0-9-]+)$",
        "write LABEL=scratch, UUID=… or a path below /dev",
        rewrite=as_device,
    ),
    _PathCheck,
]
"""A disk with a file system: its path, label or UUID."""
Mac = Annotated[
    str,
    text(
        r"^([0-9a-f]{2}:){5}[0-9a-f]{2}$",
        "write six pairs of lower-case hexadecimal digits, one address per name: 04:3f:72:aa:00:01",
        rewrite=as_mac,
    ),
]
"""The hardware address of an Ethernet port."""
Device = Annotated[
    str,
    text(
        r"^[A-Za-z0-9][A-Za-z0-9_.:-]*$",
        "write the name of one interface or device, as eno1 or mlx5_0; list several one by one",
        63,
    ),
]
"""A network interface or RDMA device: `eno1`, `mlx5_0`, `ibp24s0`."""
Rate = Annotated[
    str, text(r"^[A-Za-z0-9]([A-Za-z0-9./ ]*[A-Za-z0-9])?$", "write a name or a bit rate: NDR, 100Gb/s", 20)
]
"""Speed of a port: a name (HDR, NDR …) or a bit rate (100Gb/s)."""
Url = Annotated[
    str,
    text(
        r"^https?://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~%/?=&+-]*)?$",
        "write http:// or https:// with host, port and path, without a password",
        1023,
        rewrite=as_url,
    ),
]
Phrase = Annotated[
    str, text(rf"^[^{NOT_ON_A_LINE}\"'`$\\]+$", "write one line without quotes, backslashes, $ and backquotes", 500)
]
"""One line of plain words for people: no quotes, backslashes, dollars or control characters."""
_ONE_LINE = rf"^[^{NOT_ON_A_LINE}]*$"
describe(_ONE_LINE, Form("write one line, without control characters"))
OneLine = Annotated[str, StringConstraints(pattern=_ONE_LINE, max_length=4000)]
"""Free text on one line."""
OptionValue = OneLine | int | float
"""The value of a passthrough option; the section's own writer decides whether it can be printed."""
Options = Annotated[
    dict[
        Annotated[str, text(r"^[A-Za-z_][A-Za-z0-9_.:/*-]*$", "write the key as the program spells it", 127)],
        OptionValue,
    ],
    Field(strict=False),
]
PortNumber = Annotated[int, Field(ge=1, le=65535)]
OptionName = Annotated[str, text(r"^[a-z][a-z0-9_]*$", "use lower-case letters, digits and _, and begin with a letter")]
"""A parameter as Open MPI and opensm name theirs."""
UnixName = Annotated[
    str, text(r"^[a-z_][a-z0-9_-]*$", "use lower-case letters, digits, _ and -, and begin with a letter", 32)
]
"""A user or group of the operating system."""
BmcUser = Annotated[str, text(r"^[A-Za-z0-9_.-]+$", "use letters, digits, _, . and -", 16)]
Celsius = Annotated[int, Field(ge=40, le=110)]
EnvName = Annotated[
    str, text(r"^[A-Z][A-Z0-9_]*$", "use capitals, digits and _, as NCCL_DEBUG", 100, rewrite=as_capitals)
]
