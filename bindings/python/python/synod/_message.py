"""What all messages have in common: how they are written as protobuf's JSON form, and read from it."""

from __future__ import annotations

import base64
import dataclasses
import json
import sys
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Any, ClassVar, NamedTuple, TypeVar

M = TypeVar("M", bound="Message")
E = TypeVar("E", bound="ProtocolEnum")


class Field(NamedTuple):
    """How one field of a message is written."""

    name: str
    """Its name in Python."""
    key: str
    """Its name in JSON."""
    shape: str
    """`one`, `optional`, `many`, or `map`."""
    kind: str
    """`str`, `bytes`, `bool`, `int`, `long`, `float`, or the name of a message or an enum."""


class ProtocolEnum(str, Enum):
    """A choice of the protocol; its value is its full name there. One that a newer cluster knows and this package does not
    is read as `UNSPECIFIED`."""

    @classmethod
    def _missing_(cls: type[E], value: object) -> E | None:
        return cls.__members__.get("UNSPECIFIED")

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self.name}"

    def __str__(self) -> str:
        return self.name


class Message:
    """A message of the protocol: a frozen value."""

    __slots__ = ()
    _fields: ClassVar[tuple[Field, ...]] = ()

    def __init__(self, **fields: Any) -> None:
        raise TypeError("a message is one of the classes of synod.v1")

    def to_dict(self) -> dict[str, Any]:
        """The message in protobuf's JSON form, without what has its default."""
        written: dict[str, Any] = {}
        for field in self._fields:
            value = getattr(self, field.name)
            if field.shape == "optional":
                if value is not None:
                    written[field.key] = _write(field.kind, value)
            elif field.shape == "many":
                if value:
                    written[field.key] = [_write(field.kind, item) for item in value]
            elif field.shape == "map":
                if value:
                    written[field.key] = {key: _write(field.kind, item) for key, item in value.items()}
            elif value and value != "UNSPECIFIED" and getattr(value, "name", "") != "UNSPECIFIED":
                written[field.key] = _write(field.kind, value)
        return written

    @classmethod
    def from_dict(cls: type[M], document: Mapping[str, Any]) -> M:
        """The message that a document in protobuf's JSON form says. Keys that this package does not know are passed over,
        as a newer cluster may send them."""
        module = sys.modules[cls.__module__]
        fields: dict[str, Any] = {}
        for field in cls._fields:
            value = document.get(field.key)
            if value is None:
                continue
            read = _READ.get(field.kind) or _reader(getattr(module, field.kind))
            if field.shape == "many":
                fields[field.name] = tuple(read(item) for item in value)
            elif field.shape == "map":
                fields[field.name] = {key: read(item) for key, item in value.items()}
            else:
                fields[field.name] = read(value)
        return cls(**fields)

    def to_json(self) -> str:
        """The message as a text in protobuf's JSON form."""
        return json.dumps(self.to_dict(), separators=(",", ":"))

    @classmethod
    def from_json(cls: type[M], text: str) -> M:
        """The message that a text in protobuf's JSON form says."""
        return cls.from_dict(json.loads(text))

    def __repr__(self) -> str:
        said = []
        for field in dataclasses.fields(self):  # type: ignore[arg-type]  # Every message is one.
            value = getattr(self, field.name)
            default = {} if field.default is dataclasses.MISSING else field.default
            if value != default:
                said.append(f"{field.name}={value!r}")
        return f"{type(self).__name__}({', '.join(said)})"


def _write(kind: str, value: Any) -> Any:
    if isinstance(value, Message):
        return value.to_dict()
    if isinstance(value, ProtocolEnum):
        return value.value
    if kind == "long":
        return str(value)
    if kind == "bytes":
        return base64.b64encode(value).decode("ascii")
    return value


def _read_bytes(text: str) -> bytes:
    return base64.b64decode(text)


_READ: dict[str, Callable[[Any], Any]] = {
    "str": str,
    "bool": bool,
    "bytes": _read_bytes,
    "int": int,
    "long": int,
    "float": float,
}


def _reader(kind: Any) -> Callable[[Any], Any]:
    read: Callable[[Any], Any] = kind.from_dict if issubclass(kind, Message) else kind
    return read
