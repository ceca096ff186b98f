"""Valid and invalid paths of inclusion and consistency in logs of many sizes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import Any

from proofs.errors import ProofError
from proofs.log import check_consistency, check_inclusion, leaf_hash, node_hash

SIZES = (*range(1, 66), 127, 128, 129, 255, 256, 257, 1023, 1024, 1025, 65_535, 65_536, 65_537)
CHANGED_SIZES = (1, 2, 3, 4, 5, 6, 7, 8, 13, 32, 33, 65, 257)
"""The sizes for which invalid paths are listed."""
EMPTY = bytes(32)

Question = dict[str, Any]


def entry(index: int) -> bytes:
    """Return the entry at an index of these logs."""
    return index.to_bytes(8, "big")


@cache
def leaf(index: int) -> bytes:
    """Return the leaf of an entry."""
    return leaf_hash(entry(index))


@cache
def range_root(start: int, stop: int) -> bytes:
    """Return the root over the leaves of a range."""
    if stop - start == 1:
        return leaf(start)
    middle = start + split(stop - start)
    return node_hash(range_root(start, middle), range_root(middle, stop))


def split(count: int) -> int:
    """Return the largest power of two below a number."""
    return 1 << (count - 1).bit_length() - 1


def inclusion(index: int, start: int, stop: int) -> list[bytes]:
    """Return the inclusion path (RFC 9162 2.1.3.1)."""
    if stop - start == 1:
        return []
    middle = start + split(stop - start)
    if index < middle:
        return [*inclusion(index, start, middle), range_root(middle, stop)]
    return [*inclusion(index, middle, stop), range_root(start, middle)]


def consistency(old: int, start: int, stop: int, whole: bool = True) -> list[bytes]:
    """Return the consistency path (RFC 9162 2.1.4.1). `old` is the number of leaves of the older log."""
    if old == stop:
        return [] if whole else [range_root(start, stop)]
    middle = start + split(stop - start)
    if old <= middle:
        return [*consistency(old, start, middle, whole), range_root(middle, stop)]
    return [*consistency(old, middle, stop, False), range_root(start, middle)]


def included(size: int, index: int) -> Question:
    """Return the question whether the log contains the entry at `index`, with an inclusion path."""
    return {
        "size": size,
        "root": range_root(0, size),
        "index": index,
        "leaf": leaf(index),
        "path": inclusion(index, 0, size),
    }


def consistent(size: int, old: int) -> Question:
    """Return the question whether the log begins with the log of size `old`, with a consistency path."""
    return {
        "size": size,
        "root": range_root(0, size),
        "old": old,
        "old_root": range_root(0, old),
        "path": consistency(old, 0, size),
    }


def logs() -> dict[str, Any]:
    """Return the contents of `log.json`."""
    ins = [included(size, index) for size in SIZES for index in places(size, 0, size - 1)]
    cons = [consistent(size, old) for size in SIZES for old in places(size, 1, size)]
    return {
        "roots": [[size, range_root(0, size).hex()] for size in sizes_in(cons)],
        "inclusion": [shown(one) for one in ins],
        "not_included": list(refused_changes(ins, check_included)),
        "consistency": [shown(one) for one in cons],
        "not_consistent": list(refused_changes(cons, check_consistent)),
    }


def sizes_in(cons: list[Question]) -> list[int]:
    """Return the sizes of all older and newer logs in the questions."""
    return sorted({*SIZES, *(one["old"] for one in cons)})


def places(size: int, first: int, last: int) -> list[int]:
    """Return some of the numbers from `first` to `last`. For small logs, return all these numbers."""
    if size <= 9:
        return list(range(first, last + 1))
    return sorted({first, size // 2, split(size), last - 1, last})


def shown(question: Question) -> Question:
    """Return a question with all bytes in hex and the hashes of its path joined into one string."""
    return {
        name: b"".join(value).hex() if name == "path" else value.hex() if isinstance(value, bytes) else value
        for name, value in question.items()
        if name not in ("root", "leaf", "old_root")
    }


def refused_changes(questions: list[Question], check: Callable[[Question], None]) -> Iterator[Question]:
    """Yield changes of some questions: the changed fields, and the reason for which the path is refused."""
    for n, question in enumerate(questions):
        if question["size"] not in CHANGED_SIZES or (n % 3 and question["size"] > 9):
            continue
        seen: list[Question] = [question]
        for change, changed in changes(question):
            wrong = question | changed
            if wrong in seen:
                continue
            seen.append(wrong)
            try:
                check(wrong)
            except ProofError as error:
                values = {name: hexed(value) for name, value in changed.items()}
                yield {"of": n, "change": change, "reason": error.reason, **values}
            else:
                raise AssertionError(f"accepted: {change} of {question}")


def hexed(value: Any) -> Any:
    """Return a hash or a path in hex; the hashes of a path are joined. Other values are unchanged."""
    if isinstance(value, list):
        return b"".join(value).hex()
    return value.hex() if isinstance(value, bytes) else value


def changes(question: Question) -> Iterator[tuple[str, Question]]:
    """Yield each change of one field of a question."""
    path, size, root = question["path"], question["size"], question["root"]
    yield "a zero hash after the path", {"path": [*path, EMPTY]}
    yield "a zero hash before the path", {"path": [EMPTY, *path]}
    yield "the root after the path", {"path": [*path, root]}
    yield "no path", {"path": []}
    yield "the first hash dropped", {"path": path[1:]}
    yield "the last hash dropped", {"path": path[:-1]}
    yield "the path in reverse order", {"path": path[::-1]}
    yield "the last hash twice", {"path": [*path, *path[-1:]]}
    if path:
        yield "a bit of the first hash flipped", {"path": [flip(path[0]), *path[1:]]}
        yield "a bit of the last hash flipped", {"path": [*path[:-1], flip(path[-1])]}
    yield "a bit of the root flipped", {"root": flip(root)}
    yield "the size 0", {"size": 0}
    yield "the size over its bound", {"size": 1 << 63}
    if "index" in question:
        yield "a bit of the leaf flipped", {"leaf": flip(question["leaf"])}
        yield "the index that is the size", {"index": size}
        yield "another index", {"index": question["index"] ^ 1}
        yield "the root for the leaf", {"leaf": EMPTY if size == 1 else root}
    else:
        yield "a bit of the older root flipped", {"old_root": flip(question["old_root"])}
        yield "the older size 0", {"old": 0}
        yield "the older size one more than the size", {"old": size + 1}
        if question["old"] != size:
            yield "the roots swapped", {"root": question["old_root"], "old_root": root}


def flip(digest: bytes) -> bytes:
    """Return a hash with its last bit flipped."""
    return digest[:-1] + bytes([digest[-1] ^ 1])


def check_included(question: Mapping[str, Any]) -> None:
    """Check a path of inclusion with the project's verifier.

    Raises:
        ProofError: the verifier refuses the path.
    """
    check_inclusion(*(question[name] for name in ("index", "size", "leaf", "path", "root")))


def check_consistent(question: Mapping[str, Any]) -> None:
    """Check a path of consistency with the project's verifier.

    Raises:
        ProofError: the verifier refuses the path.
    """
    check_consistency(*(question[name] for name in ("old", "old_root", "size", "root", "path")))
