"""Values as cases write them, and whether what came is what was expected."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

Document = Any


def fill(value: Document, names: dict[str, Any]) -> Document:
    """A value with all names in it replaced, and everything written out."""
    if isinstance(value, str):
        return _fill_text(value, names)
    if isinstance(value, list):
        return [fill(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    key, of = _only_entry(value)
    if key == "$base64":
        return base64.b64encode(_text(fill(of, names)).encode()).decode()
    if key == "$repeat":
        unit, times = of
        return _text(fill(unit, names)) * times
    return {_text(_fill_text(key, names)): fill(item, names) for key, item in value.items()}


def _fill_text(written: str, names: dict[str, Any]) -> Any:
    whole = re.fullmatch(r"\$\{(\w+)\}", written)
    if whole:
        return names[whole[1]]

    def counted(found: re.Match[str]) -> str:
        name, change = found[1], found[2]
        return str(int(names[name]) + int(change)) if change else _text(names[name])

    return re.sub(r"\$\{(\w+)([+-]1)?\}", counted, written)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))


def _only_entry(value: Document) -> tuple[str, Any]:
    if isinstance(value, dict) and len(value) == 1:
        ((key, of),) = value.items()
        return str(key), of
    return "", None


def number(value: Any) -> int | None:
    """The number that a value is, or that its digits say."""
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and re.fullmatch(r"[0-9]+", value) else None


def part(value: Document, path: str) -> Any:
    """The part of a value that a path leads to; `None` if there is none."""
    if path == ".":
        return value
    for key in path.split("."):
        if isinstance(value, list):
            value = value[int(key)] if key.isdigit() and int(key) < len(value) else None
        else:
            value = value.get(key) if isinstance(value, dict) else None
    return value


def differences(expected: Document, value: Document, path: str = "") -> list[str]:
    """What differs, each with its path; nothing if the value matches. `None` is a value that is not there."""
    key, operand = _only_entry(expected)
    told = [f"{path or '.'}: expected {expected}, but {value!r} came"]
    if key.startswith("$"):
        return [] if _by_matcher(key, operand, value) else told
    if value is None:
        return [] if _is_default(expected) else told
    if isinstance(expected, dict) and isinstance(value, dict):
        pairs = [(key, each, value.get(key)) for key, each in expected.items()]
        return [fault for key, each, came in pairs for fault in differences(each, came, f"{path}.{key}")]
    if isinstance(expected, list) and isinstance(value, list) and len(expected) == len(value):
        numbered = enumerate(zip(expected, value))
        return [fault for i, (each, came) in numbered for fault in differences(each, came, f"{path}[{i}]")]
    numbers = (number(expected), number(value))
    same = expected == value and isinstance(expected, bool) == isinstance(value, bool)
    return [] if same or (None not in numbers and numbers[0] == numbers[1]) else told


def _is_default(expected: Document) -> bool:
    if isinstance(expected, dict):
        return all(not differences(each, None) for each in expected.values())
    return expected in (None, False, 0, "0", "", [])


def _by_matcher(key: str, operand: Any, value: Any) -> bool:
    numbers = (number(value), number(operand))
    if key == "$any":
        return value is not None
    if key == "$absent":
        return value is None
    if key == "$greater":
        return numbers[0] is not None and numbers[1] is not None and numbers[0] > numbers[1]
    if key == "$length":
        return isinstance(value, list) and len(value) == operand
    if key == "$contains":
        if not isinstance(value, list):
            return False
        return all(any(not differences(wanted, item) for item in value) for wanted in operand)
    if key == "$has":
        return isinstance(value, str) and operand in value
    if key == "$not":
        return bool(differences(operand, value))
    raise AssertionError(f"there is no matcher {key}")
