"""The engine and the rules of SPEC compute the roots of the golden journal."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

from backends.base import Batch
from backends.memory import MemoryBackend
from engine.base.errors import RefusedError
from engine.engine import Engine
from engine.ledger.journal import encode_log, read_header, read_log, subject_key
from engine.ledger.layout import LOG, decode_header, encode_seq, erasure_key, journal_key, payload_key
from engine.ledger.paged_tree import PagedTree
from engine.store.past import past_store
from engine.store.replay import replay
from engine.text.analyzer import STOP_WORDS, index_terms
from proofs.events import ERASING_KINDS
from proofs.log import Frontier, leaf_hash
from tests.spec import spec_naive as naive
from tests.vectors.load import read

pytestmark = pytest.mark.twins


@cache
def journal_rows() -> list[tuple[bytes, bytes | None]]:
    """Return headers and payloads of the golden journal; an erased payload is None."""
    return [
        (bytes.fromhex(one["header"]), None if one["payload"] is None else bytes.fromhex(one["payload"]))
        for one in read("journal")["events"]
    ]


def backend_of_journal() -> MemoryBackend:
    """Return a backend with the journal, the log state and the records of erasures, and no other rows."""
    backend, batch, frontier = MemoryBackend(), Batch(), Frontier()
    for seq, (header, payload) in enumerate(journal_rows()):
        batch.put(journal_key(seq), header)
        if payload is not None:
            batch.put(payload_key(seq), payload)
        decoded = decode_header(header, seq)
        if decoded.kind in ERASING_KINDS:
            batch.put(erasure_key(subject_key(decoded.detail)), encode_seq(seq))
        frontier.append(leaf_hash(header))
    backend.write(batch)
    last = Batch()
    last.put(LOG, encode_log(read_header(backend, len(journal_rows()) - 1)[0].time, frontier.to_bytes()))
    backend.write(last)
    return backend


def test_replay_of_the_journal_gives_its_roots_at_every_seq() -> None:
    """A replay of the first n events gives the roots in the file, for every n."""
    backend = backend_of_journal()
    for one in read("journal")["events"]:
        with past_store(backend, one["seq"] + 1) as store, store.view(*store.followers) as rows:
            if one["roots"]["overall"] is None:
                with pytest.raises(RefusedError):
                    store.roots(rows)
                size = one["seq"] + 1
                trees = {name: PagedTree(name).sealed_root(rows, size).hex() for name in ("atoms", "edges")}
                assert {"log": read_log(rows).frontier.root().hex(), **trees} == known(one), one["seq"]
                continue
            shown = store.roots(rows).as_checkpoint()
        found = {"log": shown.log_root, "overall": shown.root, **shown.namespaces}
        assert found == one["roots"], one["seq"]


def known(one: dict[str, Any]) -> dict[str, str]:
    """Return the roots that the file gives for the state after an event."""
    return {name: root for name, root in one["roots"].items() if root is not None}


def test_page_alone_gives_the_roots_of_the_journal_at_every_seq() -> None:
    """The roots can be computed by the rules of SPEC from the rows and the terms in the file."""
    terms = {one["text"]: one["terms"] for one in read("journal")["terms"]}
    for one in read("journal")["events"]:
        rows = journal_rows()[: one["seq"] + 1]
        found = naive.all_roots(rows, terms.__getitem__, frozenset(STOP_WORDS))
        assert {name: found[name].hex() for name in known(one)} == known(one), one["seq"]


def test_a_store_with_the_journal_verifies() -> None:
    """A store that is replayed from the journal verifies against the last root in the file."""
    target = MemoryBackend()
    source = backend_of_journal()
    replay(source, target, read_log(source).size)
    root = read("journal")["events"][-1]["roots"]["overall"]
    assert Engine(target).verify(expect=root).ok


def test_terms_of_the_journal_are_those_of_the_analyzer() -> None:
    """The analyzer of the genesis gives the terms in the file."""
    for one in read("journal")["terms"]:
        assert one["terms"] == index_terms(one["text"])


def test_proofs_of_the_golden_store_are_against_the_roots_of_the_journal() -> None:
    """The bases of the proofs of the golden store are roots of the journal."""
    events, headers = read("journal")["events"], [header for header, _ in journal_rows()]
    for vector in read("proofs")["valid"]:
        if vector["store"] == "golden":
            basis = vector["basis"]
            if basis["kind"] == "root":
                assert basis["root"] == events[-1]["roots"]["overall"]
            else:
                assert basis["root"] == naive.log_root(headers[: basis["size"]]).hex()
