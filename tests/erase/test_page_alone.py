"""The rules of SPEC, implemented without the engine, give the roots of stores with erased atoms."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.engine import Engine
from engine.ledger.journal import read_log, read_raw
from engine.text.analyzer import STOP_WORDS, index_terms
from proofs.hashing import destroyed_hash
from tests.erase.support import SECRET, erased, mixed
from tests.spec import spec_naive as naive
from tests.support.engines import backend_of


def rows_of(engine: Engine) -> list[tuple[bytes, bytes | None]]:
    """Return the headers and the remaining payloads."""
    backend = backend_of(engine)
    return [(event.header, event.payload) for event in read_raw(backend, 0, read_log(backend).size, 1 << 40)]


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000), st.integers(1, 4))
def test_every_root_is_that_of_the_page(seed: int, erasures: int) -> None:
    """All roots computed by the rules of SPEC from the remaining journal equal those of the engine."""
    engine = mixed(seed, 50, erasures)
    found = naive.all_roots(rows_of(engine), index_terms, frozenset(STOP_WORDS))
    root = engine.root()
    assert {name: value.hex() for name, value in found.items()} == {
        "log": root.log_root,
        "overall": root.root,
        **root.namespaces,
    }


def test_a_segment_with_erased_documents_is_that_of_the_page() -> None:
    """The rules of SPEC give the root of 256 ordinals with erased atoms in the segment and in the tail."""
    engine = mixed(3, 40, 4, adds=300)
    found = naive.all_roots(rows_of(engine), index_terms, frozenset(STOP_WORDS))
    assert found["overall"].hex() == engine.root().root


@pytest.mark.parametrize("content", ["", "a", SECRET, "é" * 9])
def test_the_hash_of_a_content_is_that_of_the_page(content: str) -> None:
    """The hash of an erased content is BLAKE3 keyed with H(erased; id key)."""
    from blake3 import blake3

    key = naive.digest("erased", bytes([0x22]) * 32)
    assert destroyed_hash(bytes([0x22]) * 32, content.encode()) == blake3(content.encode(), key=key).digest()


def test_the_hashes_are_in_the_body_of_the_event() -> None:
    """The event contains the hashes in ascending order, one for each different content of the atom."""
    engine = erased()
    fields, body = naive.opened(*rows_of(engine)[-1])
    texts = sorted(
        destroyed_hash(engine.store.identity.id_key, " ".join(text.split()).lower().encode())
        for text in (SECRET, f"{SECRET} Old.")
    )
    assert (fields[3], body) == (11, ["asked for", texts])
