"""A proof tells a stranger who knows every word of the memory nothing except what its claim is about."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from hashlib import sha256
from random import Random
from typing import Any

import cbor2
import pytest
from blake3 import blake3

from proofs.hashing import inner_row_hash, key_digest, value_digest
from proofs.labels import TERMS, label_of
from tests.reference import claims as c
from tests.reference.claims import Claim
from tests.soundness.wire import LABEL_KEY, SEGMENTS, TAGS, WITNESSES
from tests.spec.spec_naive import opened, set_rows, tag_sets
from tests.support.soak import times
from tests.vectors.golden import golden
from tests.vectors.valid import claims_of, prove_one

pytestmark = pytest.mark.slow

NUMBERS = range(1, 18)
LABELLED = (5, 6, 7, 8, 9, 10, 16)
WIDTH = 16
"""The width of a label. The first 16 bytes of each hash are looked for, at every offset."""


@cache
def names() -> list[tuple[int, bytes]]:
    """Return the group and the name of every set, and of every term (group 0), of the golden journal."""
    world = golden().worlds[len(golden().rows)]
    sets = {(group, name.encode()) for group, name in tag_sets(world.events)}
    terms = {term.encode() for one in world.documents for term in one.text}
    return sorted(sets | {(TERMS, term) for term in terms})


@cache
def guesses() -> dict[bytes, object]:
    """Return the beginning of each hash that a stranger can compute of a name or of a set, without a key."""
    world = golden().worlds[len(golden().rows)]
    found: dict[bytes, object] = {}
    for group, name in names():
        bare = [name, bytes([group]) + name, b"\1" + name, bytes([group]) + name + bytes(2)]
        for raw in bare:
            hashes = [sha256(raw).digest(), blake3(raw).digest()]
            hashes += [blake3(raw, key=key).digest() for key in (bytes(32), golden_id())]
            hashes += [key_digest(namespace, raw) for namespace in ("tags", "index")]
            found |= {one[:WIDTH]: (group, name) for one in hashes}
            found |= {bytes([one[0] | 0x80]) + one[1:WIDTH]: (group, name) for one in hashes}
    for _, chunk in set_rows(tag_sets(world.events), world.keys).values():
        found[value_digest("tags", chunk)[:WIDTH]] = chunk
        found[inner_row_hash(chunk)[:WIDTH]] = chunk
    return found


def golden_id() -> bytes:
    """Return a key that everybody can make: the id of the store, twice."""
    return golden().engine.store.identity.store_id * 2


def windows(data: bytes) -> set[bytes]:
    """Return each piece of the width of a label."""
    return {data[at : at + WIDTH] for at in range(len(data) - WIDTH + 1)}


def proofs_of(number: int) -> Iterator[tuple[Claim, bytes, list[Any]]]:
    """Yield claims of a number that open nothing, with their proofs against both bases."""
    rng, count = Random(f"disclosure {number}"), times(500)
    for kind in ("root", "log"):
        every = [one for one in claims_of(golden(), kind) if one[0] == number]
        for claim in rng.sample(every, min(count, len(every))):
            sealed = (*claim[:3], False)
            data = prove_one(golden(), kind, [sealed]).data
            yield sealed, data, cbor2.loads(data)


@pytest.mark.parametrize("number", NUMBERS)
def test_a_stranger_with_all_words_recognizes_none_without_the_label_key(number: int) -> None:
    """No proof contains a hash that can be computed of a name or a set without the keys of the store."""
    for claim, data, _ in proofs_of(number):
        assert not windows(data) & guesses().keys(), claim


@pytest.mark.parametrize("number", NUMBERS)
def test_only_claims_about_sets_and_terms_show_sets_and_the_label_key(number: int) -> None:
    """A proof of another claim has no label key, no set of ordinals and no segment."""
    for claim, _, parts in proofs_of(number):
        assert (parts[LABEL_KEY] is not None) is (number in LABELLED), claim
        assert (parts[SEGMENTS] is not None) is (number in (c.TAGGED, c.NONE_TAGGED, c.TERM, c.NO_TERM))
        assert parts[TAGS] is None or number in LABELLED, claim


@pytest.mark.parametrize("number", LABELLED)
def test_the_label_key_shows_only_the_claimed_name_and_its_neighbours(number: int) -> None:
    """With the label key in a proof, a stranger finds the rows beside an absent term, and no other name."""
    for claim, data, parts in proofs_of(number):
        found = windows(data)
        recognized = found & {label_of(parts[LABEL_KEY], *one) for one in names()}
        beside = set[bytes]()
        if number == c.NO_TERM:
            shown = [entry[1] for entry in parts[WITNESSES][0][1] if isinstance(entry[1], list)]
            beside = {name for one in shown for name in one[::2]}
            assert all(len(one) <= 4 for one in shown)
        assert recognized <= beside, claim


@pytest.mark.parametrize("number", [c.TAG, c.NO_TAG, c.TAGGED, c.NONE_TAGGED])
def test_only_the_sets_of_the_claim_are_shown(number: int) -> None:
    """Every chunk in a proof is one of the live ordinals or of the claimed set, behind its salt."""
    world = golden().worlds
    for claim, _, parts in proofs_of(number):
        group, name = (claim[1][16], claim[1][17:]) if number < c.TAGGED else (claim[1][8], claim[1][9:])
        allowed = set[bytes]()
        for at in world.values():
            sets = tag_sets(at.events)
            chosen = {key: sets[key] for key in ((1, ""), (group, name.decode())) if key in sets}
            allowed |= {row for _, row in set_rows(chosen, at.keys).values()}
        witness = parts[WITNESSES][0]
        shown = witness[2:] if number < c.TAGGED else [one for pair in witness[1] for one in pair or ()]
        assert {one[16:] for one in shown if one is not None} <= allowed, claim


def test_headers_have_no_name() -> None:
    """No header of the journal contains the name of a tag, a source or a predicate."""
    shown = b"".join(repr(opened(header, None)).encode() for header, _ in golden().rows)
    assert not [name for group, name in names() if group in (2, 6) and len(name) > 3 and name in shown]
