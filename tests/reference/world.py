"""Computes all values that are derived from a journal, and computes sibling hashes from whole trees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from tests.reference.hashes import bit, digest, log_node, split
from tests.spec.spec_facts import Document, Terms
from tests.spec.spec_naive import (
    Keys,
    Rows,
    all_roots,
    documents_of,
    dumps,
    edge_leaves,
    giving_ordinals,
    keys_of,
    merkle,
    opened,
    subtree,
    tag_leaves,
    values,
)


class World(NamedTuple):
    """All values derived from a journal."""

    rows: Rows
    events: list[tuple[list[Any], Any]]
    """The header and body of each event; the body is None if the payload is erased."""
    values: dict[str, dict[bytes, list[Any]]]
    """The leaf values of `atoms` and `edges`."""
    roots: dict[str, bytes]
    leaves: dict[str, dict[bytes, bytes]]
    """Namespace → key → value, for every tree except the `index` tree."""
    ids: dict[int, bytes]
    """Ordinal → id of the atom."""
    documents: list[Document]
    stop_words: frozenset[str]
    keys: Keys
    identity: tuple[int, bytes] = (1, bytes(32))
    """The rules, and the commitment to the label key, of a store without a genesis."""

    @property
    def rules(self) -> int:
        """The version of the rules in the genesis."""
        return self.events[0][0][11] if self.rows else self.identity[0]

    @property
    def label_commitment(self) -> bytes:
        """The commitment to the label key in the genesis."""
        commitment: bytes = self.events[0][0][10] if self.rows else self.identity[1]
        return commitment


def world(rows: Rows, terms: Terms, stop_words: frozenset[str]) -> World:
    """Return the values derived from these events."""
    events = [opened(header, payload) for header, payload in rows]
    found = values([fields for fields, _ in events])
    leaves = {name: {key: dumps(value) for key, value in found[name].items()} for name in found}
    leaves["edges"] = edge_leaves(leaves["edges"])
    leaves["tags"] = tag_leaves(events)
    ids = {fields[8]: fields[7] for fields, _ in giving_ordinals(events)}
    documents = documents_of(events, terms, stop_words)
    roots = all_roots(rows, terms, stop_words)
    return World(rows, events, found, roots, leaves, ids, documents, stop_words, keys_of(events))


def mth(leaves: Sequence[bytes]) -> bytes:
    """RFC 9162 2.1.1: return the root of one or more leaves."""
    return merkle(list(leaves), log_node, b"")


def inclusion(at: int, leaves: Sequence[bytes]) -> bytes:
    """RFC 9162 2.1.3.1: return PATH(m, D_n)."""
    if len(leaves) == 1:
        return b""
    k = split(len(leaves))
    if at < k:
        return inclusion(at, leaves[:k]) + mth(leaves[k:])
    return inclusion(at - k, leaves[k:]) + mth(leaves[:k])


def consistency(old: int, leaves: Sequence[bytes], whole: bool = True) -> bytes:
    """RFC 9162 2.1.4.1: return SUBPROOF(m, D_n, b)."""
    if old == len(leaves):
        return b"" if whole else mth(leaves)
    k = split(len(leaves))
    if old <= k:
        return consistency(old, leaves[:k], whole) + mth(leaves[k:])
    return consistency(old - k, leaves[k:], False) + mth(leaves[:k])


def beside(leaves: list[bytes], shown: set[int], first: int = 0) -> bytes:
    """Return the roots of the largest subtrees in which no leaf is shown, from left to right."""
    if not any(first <= index < first + len(leaves) for index in shown):
        return merkle(leaves, lambda left, right: digest("rows-node", left + right), b"")
    if len(leaves) == 1:
        return b""
    k = split(len(leaves))
    return beside(leaves[:k], shown, first) + beside(leaves[k:], shown, first + k)


def walked(keys: set[bytes], leaves: list[tuple[bytes, bytes]], depth: int) -> tuple[bytes, bytes]:
    """Return the shape and the hashes of the opening of a subtree that holds some of the keys."""
    if not leaves:
        return b"\3", b""
    if len(leaves) == 1:
        return (b"\1", b"") if leaves[0][0] in keys else (b"\2", b"".join(leaves[0]))
    shape, hashes = b"\0", b""
    for side in (0, 1):
        some = [leaf for leaf in leaves if bit(leaf[0], depth) == side]
        asked = {key for key in keys if bit(key, depth) == side}
        if asked:
            below = walked(asked, some, depth + 1)
            shape, hashes = shape + below[0], hashes + below[1]
        else:
            hashes += subtree(some, depth + 1)
    return shape, hashes
