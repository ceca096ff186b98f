"""The worked example of SPEC: a journal of six events, all values derived from it, and four proofs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import cbor2

from backends.base import Reader
from backends.memory import MemoryBackend
from engine.engine import Engine
from engine.followers.trees import read_value
from engine.ledger.layout import JOURNAL, LOG, PAYLOAD
from engine.text.analyzer import STOP_WORDS, index_terms
from proofs.basis import LogHead
from proofs.leaves import encode_value
from tests.spec import spec_naive as naive
from tests.spec.spec_facts import Document, document

STORE = b"\x11" * 16
TAIL = b"\xff" + bytes(4)
"""The key of the tail of the index, which is all of it."""
CONTENTS = ("The daemon listens on port 8080.", "Écoute: l'été, daemon!")
PROVED: dict[str, tuple[str, ...]] = {
    "atom": ("atom", "ID", "sealed"),
    "no-term": ("no-term", "kettl"),
    "term": ("term", "daemon"),
    "no-tag": ("no-tag", "ID", "kitchen"),
}
"""The claim of each proof in words; ID stands for the id of the first atom."""
OF_THE_LOG = ("no-tag",)
"""The proofs whose basis is the log head of size 6. All other proofs have the overall root as their basis."""


def salt_of(seq: int) -> bytes:
    """Return the salt of event `seq`. For −1 to −4, return the bytes of the store id and of the keys."""
    return bytes([-0x11 * seq if seq < 0 else seq % 256]) * 32


class Clock:
    """A clock that returns the time of event n at its n-th call."""

    def __init__(self) -> None:
        self.event = -1

    def __call__(self) -> int:
        """Return the next time."""
        self.event += 1
        return 1_600_000_000_000_000 + self.event * 1_000_000


def rows_of(reader: Reader) -> list[tuple[bytes, bytes]]:
    """Return header and payload of each event of a store."""
    headers = [row for _, row in reader.scan_prefix(JOURNAL)]
    return list(zip(headers, [row for _, row in reader.scan_prefix(PAYLOAD)], strict=True))


def example_memory() -> Engine:
    """Return a memory with the events of the example."""
    engine = Engine(MemoryBackend(), clock=Clock(), salts=salt_of)
    first = engine.add(
        CONTENTS[0], title="ADR-016", tags=("Port", "Résumé"), source="adr/016.md", sequence=65_536
    ).subject
    second = engine.add(CONTENTS[1], created=0).subject
    engine.link(second, "references", first)
    engine.tombstone(second, "stale")
    engine.checkpoint()
    return engine


def claim_in_words(name: str, first: str) -> list[str]:
    """Return the words of a proof's claim, with ID replaced by the id of the first atom."""
    return [first if word == "ID" else word for word in PROVED[name]]


def example() -> dict[str, Any]:
    """Return the contents of `example.json`: name → hex, or words separated by spaces."""
    with example_memory() as engine:
        backend, rows = engine.store.backend, rows_of(engine.store.backend)
        events = [naive.opened(*row) for row in rows]
        first, second = (fields[7] for fields, _ in events[1:3])
        documents = [document(body, index_terms, STOP_WORDS) for _, body in events[1:3]]
        log, value = backend.get(LOG), read_value(backend, "atoms", first)
        assert log is not None
        assert value is not None
        shown = engine.root()
        roots = {"log": shown.log_root, **shown.namespaces, "overall": shown.root}
        head = LogHead(STORE, len(rows), bytes.fromhex(shown.log_root))
        found: dict[str, str] = {}
        for n, (header, payload) in enumerate(rows):
            found |= {f"header {n}": header.hex(), f"payload {n}": payload.hex()}
        found |= {"id first": first.hex(), "id second": second.hex()}
        found |= of_documents(events, documents)
        found |= {"value first": encode_value(value).hex(), "frontier": cbor2.loads(log)[1].hex()}
        found["summary tail"] = naive.summary(TAIL, documents, STOP_WORDS, naive.keys_of(events)).hex()
        found |= {f"root {name}": root for name, root in roots.items()}
        for name in PROVED:
            basis = head if name in OF_THE_LOG else None
            proof = engine.prove([claim_in_words(name, str(UUID(bytes=first)))], checkpoint=basis)
            found[f"proof {name}"] = proof.data.hex()
    return {"example": found}


def of_documents(events: Sequence[Any], documents: Sequence[Document]) -> dict[str, str]:
    """Return the terms and the facts of the two contents."""
    found = {}
    for n, one in enumerate(documents):
        found[f"terms {n}"] = " ".join(one.text)
        found[f"heading {n}"] = " ".join(one.heading)
        found[f"facts {n}"] = " ".join(f"{fact:x}" for fact in one.facts)
    return found
