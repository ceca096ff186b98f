"""The positions of the items of a proof in its bytes, and edits of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from tests.reference.cbor import ARRAY, BYTES, NULL, TEXT, head, head_at

Path = tuple[int, ...]
Edit = tuple[int, int, bytes]
"""An edit of bytes: the offset, the number of bytes to remove at the offset, and the bytes to insert."""


class Span(NamedTuple):
    """The position of an item."""

    path: Path
    """The index of the item in each of the nested arrays, from the outermost array inwards."""
    start: int
    body: int
    """The offset after the head."""
    end: int
    kind: int
    """The major type; 7 for null."""
    number: int
    """The number in the head: the count of items of an array, the length of a string, or an integer."""


def spans(data: bytes) -> dict[Path, Span]:
    """Return the span of every item of a proof, by its path."""
    found: dict[Path, Span] = {}
    end = _span(data, 0, (), found)
    if end != len(data):
        raise ValueError("more than one item")
    return found


def _span(data: bytes, at: int, path: Path, found: dict[Path, Span]) -> int:
    if data[at] == NULL:
        found[path] = Span(path, at, at + 1, at + 1, 7, 0)
        return at + 1
    kind, number, body = head_at(data, at)
    end = body + number if kind in (BYTES, TEXT) else body
    for n in range(number if kind == ARRAY else 0):
        end = _span(data, end, (*path, n), found)
    found[path] = Span(path, at, body, end, kind, number)
    return end


def edited(data: bytes, edits: Sequence[Edit]) -> bytes:
    """Apply `edits` and return the bytes. The edits ascend, and their offsets refer to the unedited bytes."""
    out, at = b"", 0
    for offset, length, new in edits:
        if offset < at or offset + length > len(data):
            raise ValueError("edits overlap, are out of order, or go beyond the end")
        out += data[at:offset] + new
        at = offset + length
    return out + data[at:]


def replaced(span: Span, new: bytes) -> list[Edit]:
    """Return the edit that replaces an item by `new`."""
    return [(span.start, span.end - span.start, new)]


def headed(span: Span, count: int) -> Edit:
    """Return the edit that replaces the number in the head of an array or string."""
    return span.start, span.body - span.start, head(span.kind, count)


def dropped(found: dict[Path, Span], path: Path) -> list[Edit]:
    """Return the edits that remove one item from its array."""
    parent, span = found[path[:-1]], found[path]
    return [headed(parent, parent.number - 1), (span.start, span.end - span.start, b"")]


def added(found: dict[Path, Span], path: Path, at: int, new: bytes) -> list[Edit]:
    """Return the edits that insert an item into an array at an index."""
    parent = found[path]
    place = parent.end if at == parent.number else found[*path, at].start
    return merged([headed(parent, parent.number + 1), (place, 0, new)])


def resized(span: Span, offset: int, length: int, new: bytes) -> list[Edit]:
    """Return the edits that replace `length` bytes of a string from `offset` in it by `new`."""
    count = span.number - length + len(new)
    inner: Edit = (span.body + offset, length, new)
    return [inner] if count == span.number else merged([headed(span, count), inner])


def merged(edits: list[Edit]) -> list[Edit]:
    """Return the edits with adjacent ones joined."""
    out: list[Edit] = []
    for offset, length, new in edits:
        if out and out[-1][0] + out[-1][1] == offset:
            before = out.pop()
            out.append((before[0], before[1] + length, before[2] + new))
        else:
            out.append((offset, length, new))
    return out


def difference(old: bytes, new: bytes) -> list[Edit]:
    """Return edits that turn one proof into the other; they are small if few items differ."""
    one, other = spans(old), spans(new)
    edits: list[Edit] = []

    def compare(path: Path) -> None:
        a, b = one[path], other[path]
        was, now = old[a.start : a.end], new[b.start : b.end]
        if was == now:
            return
        if (a.kind, a.number) != (b.kind, b.number) or a.kind not in (ARRAY, BYTES):
            edits.extend(replaced(a, now))
        elif a.kind == ARRAY:
            for n in range(a.number):
                compare((*path, n))
        else:
            first = next(at for at in range(len(was)) if was[at] != now[at])
            last = next(at for at in reversed(range(len(was))) if was[at] != now[at]) + 1
            edits.append((a.start + first, last - first, now[first:last]))

    compare(())
    return merged(edits)
