"""Rows changed from outside: no proof that is returned shows anything false."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

import pytest

from engine.base.errors import CorruptionError, EngineError, VerificationError
from engine.index.segments import FACTS, LENGTHS, SegmentName
from engine.ledger.layout import (
    DESTROYED,
    EARLY_FACT,
    ERASURE,
    FAMILIES,
    INDEX_BLOCKS,
    INDEX_ROWS,
    INDEX_SUMMARIES,
    META_ENTRIES,
    NAMES,
    REQUESTS,
    journal_key,
    payload_key,
    tree_prefix,
    value_key,
)
from engine.ledger.pages import child_path, nibble_of
from proofs.basis import Root
from proofs.claims import AtomIs, AtomsMentioning, Claim, EventIs, NoneMentioning
from proofs.errors import ProofError
from proofs.hashing import key_digest
from proofs.labels import TERMS, label_of
from proofs.leaves import State
from proofs.verifier import verify
from tests.support.engines import backend_of, copied_rows, engine_on, put_rows
from tests.trust.proving.support import GONE, every_claim, filled, log_head, raw_id

pytestmark = pytest.mark.slow

Rows = dict[bytes, bytes]
Changes = dict[bytes, bytes | None]

ENGINE = filled()
ENGINE.catch_up()
STORE = backend_of(ENGINE)
ALL = dict(STORE.scan())
CLAIMS = every_claim(ENGINE)
HEAD = log_head(ENGINE)
ROOT = Root(HEAD.store_id, bytes.fromhex(ENGINE.root().root))
HONEST = {
    (at, head): ENGINE.prove([claim], checkpoint=head).data
    for at, claim in enumerate(CLAIMS)
    for head in (None, HEAD)
}
KINDS = sorted(
    set(FAMILIES.values()) - {b"i/", ERASURE, DESTROYED, NAMES, META_ENTRIES, REQUESTS, EARLY_FACT}
    | {b"i/doc/", b"i/head", INDEX_BLOCKS, INDEX_ROWS, INDEX_SUMMARIES}
)
"""The prefixes of the keys of each kind of row. The store has no row of the other kinds."""


def one_bit(rows: Rows, chosen: Random) -> Changes:
    """Flip one bit in one row's value."""
    key = chosen.choice([key for key in sorted(rows) if rows[key]])
    value = bytearray(rows[key])
    value[chosen.randrange(len(value))] ^= 1 << chosen.randrange(8)
    return {key: bytes(value)}


def deleted(rows: Rows, chosen: Random) -> Changes:
    """Delete a row."""
    return {chosen.choice(sorted(rows)): None}


def emptied(rows: Rows, chosen: Random) -> Changes:
    """Empty the value of a row."""
    return {chosen.choice(sorted(rows)): b""}


def cut(rows: Rows, chosen: Random) -> Changes:
    """Keep only the beginning of a row's value."""
    key = chosen.choice(sorted(rows))
    return {key: rows[key][: chosen.randrange(len(rows[key]) + 1)]}


def doubled(rows: Rows, chosen: Random) -> Changes:
    """Repeat a row's value."""
    key = chosen.choice(sorted(rows))
    return {key: 2 * rows[key]}


def exchanged(rows: Rows, chosen: Random) -> Changes:
    """Swap the values of two rows of a kind."""
    first, second = (chosen.choice(sorted(rows)) for _ in range(2))
    return {first: rows[second], second: rows[first]}


def noise(rows: Rows, chosen: Random) -> Changes:
    """Replace all values of a kind by random bytes of the same lengths."""
    return {key: chosen.randbytes(len(value)) for key, value in rows.items()}


def wiped(rows: Rows, chosen: Random) -> Changes:
    """Delete all rows of a kind."""
    return dict.fromkeys(rows)


def check(changes: Changes, claim: Claim, at: int) -> None:
    """Check that nothing false is returned for a claim after these changes."""
    store = copied_rows(STORE)
    put_rows(store, changes)
    for head in (None, HEAD):
        try:
            proof = engine_on(store).prove([claim], checkpoint=head)
        except VerificationError:
            continue
        except EngineError:
            # Of how far the log and the followers have come, other errors may speak: of a newer version, say.
            assert any(key.startswith(b"meta/") for key in changes)
            continue
        if proof.data == HONEST[at, head]:
            continue
        # Where the root itself follows from changed rows, it is another one, as `engine root` would print.
        assert head is None
        assert proof.basis.root != ROOT.root
        with pytest.raises(ProofError):
            verify(proof.data, ROOT, [claim])


@pytest.mark.parametrize("change", [one_bit, deleted, emptied, cut, doubled, exchanged, noise, wiped])
@pytest.mark.parametrize("prefix", KINDS)
def test_no_false_proof_is_served(prefix: bytes, change: Callable[[Rows, Random], Changes]) -> None:
    """Changed rows give the honest proof, one that the true root refuses, or a VerificationError.

    A claim is never refused as false because of changed rows.
    """
    chosen = Random(f"{prefix!r} {change.__name__}")
    rows = {key: value for key, value in ALL.items() if key.startswith(prefix)}
    for at, claim in chosen.sample(list(enumerate(CLAIMS)), 3):
        check(change(rows, chosen), claim, at)


SEGMENT = SegmentName(0, 0)


def pack_of(term: bytes) -> bytes:
    """Return the key of the stored row of the segment in which a term is, or would be."""
    name = label_of(ENGINE.store.identity.label_key, TERMS, term)
    return max(key for key in ALL if SEGMENT.row_prefix <= key <= SEGMENT.row_prefix + name)


NIBBLE = nibble_of(key_digest("atoms", raw_id(1)), 0)
PAGE = tree_prefix("atoms") + b"\x01" + child_path(b"", 0, NIBBLE)
"""A page below the root's page, from which the root is computed."""
WITNESSES: list[tuple[bytes, Claim]] = [
    (value_key("atoms", raw_id(GONE)), AtomIs(raw_id(GONE), State.TOMBSTONED)),
    (payload_key(2), AtomIs(raw_id(1))),
    (journal_key(5), EventIs(5)),
    (payload_key(5), EventIs(5)),
    (pack_of(b"kettl"), AtomsMentioning("kettl")),
    (pack_of(b"word90a"), NoneMentioning("word90a")),
    (SEGMENT.row_prefix + LENGTHS, NoneMentioning("!")),
    (SEGMENT.row_prefix + FACTS, NoneMentioning("!")),
    (SEGMENT.summary_key, NoneMentioning("unicorn")),
    (PAGE, AtomIs(raw_id(1))),
]
"""A row, and a claim whose proof depends on it."""


@pytest.mark.parametrize("bit", range(0, 8, 3))
@pytest.mark.parametrize(("key", "claim"), WITNESSES)
def test_a_changed_row_that_a_proof_rests_on_is_named_corrupt(key: bytes, claim: Claim, bit: int) -> None:
    """Any flipped bit in a row that a proof depends on is a CorruptionError, not a refusal."""
    assert ENGINE.prove([claim])
    chosen = Random(f"{key!r} {bit}")
    for at in {0, len(ALL[key]) - 1, *(chosen.randrange(len(ALL[key])) for _ in range(3))}:
        value = bytearray(ALL[key])
        value[at] ^= 1 << bit
        store = copied_rows(STORE)
        put_rows(store, {key: bytes(value)})
        with pytest.raises(CorruptionError):
            engine_on(store).prove([claim])


BLOCKS = ALL[SEGMENT.blocks_key]
OTHERS = ALL[SegmentName(0, 256).blocks_key]


@pytest.mark.parametrize(
    "blocks", [b"", None, OTHERS, BLOCKS + BLOCKS, BLOCKS + OTHERS, BLOCKS[35:], BLOCKS[:35], BLOCKS[:-1]]
)
def test_a_row_of_blocks_that_is_not_its_segments_is_named_corrupt(blocks: bytes | None) -> None:
    """A blocks row that is empty, missing, another segment's, too long or truncated is a CorruptionError."""
    store = copied_rows(STORE)
    put_rows(store, {SEGMENT.blocks_key: blocks})
    with pytest.raises(CorruptionError):
        engine_on(store).prove([NoneMentioning("unicorn")])
