"""An object with its value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from synod import v1

T = TypeVar("T")


@dataclass(frozen=True)
class Stored(Generic[T]):
    """An object as it is stored, and its value."""

    object: v1.Object
    """The object."""
    value: T
    """Its value."""
