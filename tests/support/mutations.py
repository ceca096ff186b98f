"""Every small change of an answer in JSON: what a lying service could put in its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from copy import deepcopy
from functools import partial
from typing import Any, Final, NamedTuple

CANARY: Final = "Zornwalt"
"""A word that is in no memory. It is in each text that a change makes up."""

_ID: Final = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HEX: Final = re.compile(r"[0-9a-f]{8,}")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\dT.*Z")
_BASE64: Final = re.compile(r"[A-Za-z0-9+/]{60,}={0,2}")

Path = tuple[str | int, ...]


class Change(NamedTuple):
    """One change: its kind, where it is made, and what it makes of the value there."""

    kind: str
    path: Path
    value: Callable[[Any], Any]

    def __str__(self) -> str:
        return f"{self.kind} at {'/'.join(map(str, self.path)) or 'the whole'}"

    def made(self, answer: Any) -> Any:
        """Return a changed copy of an answer; an answer that has nothing at the path stays as it is."""
        changed = {"": deepcopy(answer)}
        place: Any = changed
        for step, following in zip(("", *self.path), (*self.path, None), strict=True):
            try:
                if following is None:
                    place[step] = self.value(place[step])
                else:
                    place = place[step]
            except (KeyError, IndexError, TypeError, AttributeError, ValueError):
                return answer
        return changed[""]


def changes_of(answer: Any, ids: tuple[str, ...], path: Path = ()) -> Iterator[Change]:
    """Yield the changes of each field of an answer; `ids` are put in the place of other ids."""
    if isinstance(answer, dict):
        for name in answer:
            yield Change("drop", path, partial(_without, name=name))
            yield from changes_of(answer[name], ids, (*path, name))
    elif isinstance(answer, list):
        yield from _of_list(answer, path)
        for at, item in enumerate(answer):
            yield from changes_of(item, ids, (*path, at))
    else:
        for kind, value in _others(answer, ids):
            yield Change(kind, path, partial(_replaced, value=value))
    yield Change("other kind", path, lambda found: [] if isinstance(found, dict) else {"text": CANARY})


def _of_list(answer: list[Any], path: Path) -> Iterator[Change]:
    yield Change("invent", path, lambda found: [*found, CANARY])
    for at in range(len(answer)):
        yield Change("drop", path, partial(_list_without, at=at))
        yield Change("duplicate", path, partial(_with_copy, at=at))
        yield Change("replace by a duplicate", path, partial(_copies, at=at))
    if len(answer) > 1:
        yield Change("reorder", path, lambda found: found[::-1])
        yield Change("empty", path, lambda found: [])
        if all(isinstance(item, dict) for item in answer):
            for name in answer[0]:
                yield Change("swap", path, partial(_swapped, name=name))


def _replaced(_: Any, value: Any) -> Any:
    return value


def _without(found: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in found.items() if key != name}


def _list_without(found: list[Any], at: int) -> list[Any]:
    return found[:at] + found[at + 1 :]


def _with_copy(found: list[Any], at: int) -> list[Any]:
    return [*found, deepcopy(found[at])]


def _copies(found: list[Any], at: int) -> list[Any]:
    return [found[at]] * len(found)


def _swapped(items: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    """Give each item the value that the item before it has under a name."""
    values = [item[name] for item in items]
    return [item | {name: value} for item, value in zip(items, values[-1:] + values[:-1], strict=True)]


def _others(value: Any, ids: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
    if value is None:
        yield "invent", f"{CANARY} approves"
        yield "invent", 7
    elif isinstance(value, bool):
        yield "negate", not value
    elif isinstance(value, (int, float)):
        yield from (("count", value + 1), ("count", 0), ("count", -1))
    elif _ID.fullmatch(value):
        yield from (("other id", one) for one in ids if one != value)
    elif _TIME.fullmatch(value):
        yield "other time", "2001-01-01T00:00:00.000000Z"
    elif _HEX.fullmatch(value):
        yield "other digits", f"{int(value[:1], 16) ^ 1:x}{value[1:]}"
    elif _BASE64.fullmatch(value):
        for at in range(8, len(value) - 8, max(1, len(value) // 16)):
            yield "other bytes", value[:at] + ("B" if value[at] == "A" else "A") + value[at + 1 :]
    else:
        yield "other text", f"{CANARY} {value}"
        yield "shorter text", value[: len(value) // 2]
        yield "no text", None
        yield (
            "other state",
            {"live": "tombstoned", "internal": "external", "quarantine": "internal"}.get(
                value, f"{value} not {CANARY}"
            ),
        )
