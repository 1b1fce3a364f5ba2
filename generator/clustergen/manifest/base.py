"""What every section of the manifest shares: the base model and the scalar types.

A scalar type closes its value: nothing that fits one of them can leave its place in any file that we print.
"""

from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from clustergen.hostlist import HostlistError, count


class Section(BaseModel):
    """A mapping of the manifest: frozen, and every key that it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, hide_input_in_errors=True)


def field(default: Any, help: str, **constraints: Any) -> Any:
    """A field with the sentence that the schema, editors and `clustergen explain` show. `...` makes it required."""
    return Field(default, description=help, **constraints)


def section(model: type[Section], help: str) -> Any:
    """A nested mapping that may be left out: its own defaults then hold."""
    return Field(default_factory=model, description=help)


def _hostlist(value: str) -> str:
    try:
        count(value)
    except HostlistError as err:
        from pydantic_core import PydanticCustomError

        context = {"message": err.message, "hint": err.hint, "offset": err.offset, "length": err.length}
        raise PydanticCustomError("hostlist-syntax", "{message}", context) from None
    return value


class _HostlistCheck:
    """Runs after the pattern, so that a broken bracket is told with its place and a stray blank with the pattern."""

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: Any) -> Any:
        from pydantic_core import core_schema

        return core_schema.no_info_after_validator_function(_hostlist, handler(source))


def _text(pattern: str, limit: int = 255) -> Any:
    return StringConstraints(pattern=pattern, min_length=1, max_length=limit)


# Control characters, ends of lines, marks that turn the order of what is shown, and what YAML does not take.
_NOT_ON_A_LINE = r"\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ufffe\uffff"
Name = Annotated[str, _text(r"^[a-z][a-z0-9_-]*$", 63)]
"""Name of something in the manifest: a node type, a partition, a storage entry, a rack …"""
SlurmName = Annotated[str, _text(r"^[A-Za-z][A-Za-z0-9_.-]*$", 63)]
"""Name that Slurm shows to users: partitions, QOS, accounts, switches, features."""
HostName = Annotated[str, _text(r"^[a-z0-9]([a-z0-9-]*[a-z0-9])?$", 63)]
HostList = Annotated[str, _text(r"^[A-Za-z0-9\[\],._:-]+$", 65535), _HostlistCheck]
"""Host names in Slurm's folded form: `compute[01-08],login1`."""
AddressList = HostList
"""IP addresses in the same folded form: `10.0.0.[11-18]`."""
Cidr = Annotated[str, _text(r"^[0-9a-fA-F.:]+/[0-9]{1,3}$", 49)]
Address = Annotated[str, _text(r"^[0-9a-fA-F.:]+$", 45)]
Host = Annotated[str, _text(r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$|^[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F.]*$")]
"""A host name or address."""
Endpoint = Annotated[
    str, _text(r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?(:[0-9]{1,5})?$|^[0-9a-fA-F]*:[0-9a-fA-F:.]*:[0-9a-fA-F.]*$")
]
"""A host name or address, with a port where one fits."""
Domain = Annotated[str, _text(r"^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$")]
AbsolutePath = Annotated[str, _text(r"^(/[A-Za-z0-9_.@:+,%-]+)+/?$", 1023)]
Device = Annotated[str, _text(r"^[A-Za-z0-9][A-Za-z0-9_.:-]*$", 63)]
"""A network interface or RDMA device: `eno1`, `mlx5_0`, `ibp24s0`."""
Rate = Annotated[str, _text(r"^[A-Za-z0-9]([A-Za-z0-9./ ]*[A-Za-z0-9])?$", 20)]
"""Speed of a port: a name (HDR, NDR …) or a bit rate (100Gb/s)."""
Url = Annotated[str, _text(r"^https?://[A-Za-z0-9.-]+(:[0-9]+)?(/[A-Za-z0-9._~%/?=&+-]*)?$", 1023)]
Phrase = Annotated[str, _text(rf"^[^{_NOT_ON_A_LINE}\"'`$\\]+$", 500)]
"""One line of plain words for people: no quotes, backslashes, dollars or control characters."""
OneLine = Annotated[str, StringConstraints(pattern=rf"^[^{_NOT_ON_A_LINE}]*$", max_length=4000)]
"""Free text on one line."""
OptionValue = OneLine | int | float
"""The value of an escape hatch; the section's own writer decides whether it can be printed."""
Options = Annotated[
    dict[Annotated[str, _text(r"^[A-Za-z_][A-Za-z0-9_.:/*-]*$", 127)], OptionValue], Field(strict=False)
]
PortNumber = Annotated[int, Field(ge=1, le=65535)]
