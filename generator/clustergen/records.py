"""Frozen records: what `@dataclass(frozen=True)` gives, without the time that each class costs at import.

A render loads some two hundred record types. `dataclasses` compiles half a dozen methods for each of them, and with it
`validate` needs a tenth more CPU time and `render --check` of `ml-training` a quarter more; these share their methods.
Every frozen value is a record; `@dataclass` is for what changes or has an order (`<`), and `tools/lint` refuses others.
Fields are the annotations of the class, those of its bases first; a value in the class body is the default. Type
checkers know `record` as a dataclass.
"""

from __future__ import annotations

from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")
_MISSING = object()


def _init(self: Any, *args: Any, **named: Any) -> None:
    cls = type(self)
    names: tuple[str, ...] = cls.__record_fields__
    if not named and len(args) == len(names):
        self.__dict__.update(zip(names, args, strict=True))
        return
    if not args and named.keys() == cls.__record_names__:
        self.__dict__.update(named)
        return
    if len(args) > len(names):
        raise TypeError(f"{cls.__name__} has {len(names)} fields, not {len(args)}")
    values = self.__dict__
    values.update(zip(names, args, strict=False))
    for name in names[len(args) :]:
        value = named.pop(name, _MISSING)
        if value is _MISSING:
            value = getattr(cls, name, _MISSING)
            if value is _MISSING:
                raise TypeError(f"{cls.__name__} needs {name}")
        values[name] = value
    if named:
        raise TypeError(f"{cls.__name__} has no free field {', '.join(named)}")


def _frozen(self: Any, name: str, *_: Any) -> None:
    raise AttributeError(f"{type(self).__name__}.{name} cannot be changed")


def _values(self: Any) -> tuple[Any, ...]:
    values = self.__dict__
    return tuple(values[name] for name in type(self).__record_fields__)


def _eq(self: Any, other: object) -> Any:
    return _values(self) == _values(other) if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_values(self))


def _repr(self: Any) -> str:
    pairs = zip(type(self).__record_fields__, _values(self), strict=True)
    return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in pairs)})"


@dataclass_transform(frozen_default=True)
def record(cls: type[T]) -> type[T]:
    """Makes the class a frozen record of its annotated fields; methods and properties stay."""
    inherited = getattr(cls, "__record_fields__", ())
    annotations: dict[str, object] = vars(cls).get("__annotations__", {})
    fields = (*inherited, *(name for name in annotations if name not in inherited))
    members: dict[str, Any] = {
        "__record_fields__": fields,
        "__record_names__": frozenset(fields),
        "__match_args__": fields,
        "__init__": _init,
        "__setattr__": _frozen,
        "__delattr__": _frozen,
        "__eq__": _eq,
        "__hash__": _hash,
        "__repr__": _repr,
    }
    for name, member in members.items():
        if name.startswith("__record") or name == "__match_args__" or name not in cls.__dict__ or name == "__hash__":
            setattr(cls, name, member)
    return cls


def fields(kind: Any) -> tuple[str, ...]:
    """Names of the fields of a record or its type, in order."""
    names: tuple[str, ...] = kind.__record_fields__
    return names


def replace(original: T, **changes: Any) -> T:
    """The same record with some fields changed."""
    values = {name: original.__dict__[name] for name in fields(original)}
    return type(original)(**{**values, **changes})


def copied(kind: type[T], source: object, /, **others: Any) -> T:
    """A record of this type whose fields have what `source` has under the same names; `others` are its other fields."""
    values = {name: getattr(source, name) for name in fields(kind) if name not in others}
    return kind(**values, **others)
