"""Journals that are built event by event, without the engine, from SPEC 3.4 and 5."""

from __future__ import annotations

from typing import Any

from tests.spec.spec_naive import all_roots, digest, dumps, opened, u
from tests.spec.spec_page import example_values

STORE, STOP = bytes([0x11]) * 16, frozenset({"the"})
START = 1_600_000_000_000_000


def terms(text: str) -> list[str]:
    """Return the words of a text in lower case, as a simple analyzer."""
    return text.lower().split()


def atom_id(number: int) -> bytes:
    """Return the id of the n-th atom."""
    return u(number + 1, 16)


def edge_key(source: int, target: int, code: bytes = b"\1") -> bytes:
    """Return the key of an edge."""
    return atom_id(source) + code + atom_id(target)


class Journal:
    """Consecutive events that follow the rules J1 to J8 of SPEC. The caller must see to rule J4."""

    def __init__(self) -> None:
        self.rows: list[tuple[bytes, bytes]] = []
        self.last: dict[bytes, int] = {}
        self.ordinals: dict[bytes, int] = {}
        self.given = 0
        self.append(0, "engine", [STORE, "memroot-1", bytes(32)], [bytes([0x22]) * 32], None)

    def append(
        self, kind: int, actor: str, detail: list[Any], body: list[Any], subject: bytes | None
    ) -> None:
        """Append an event."""
        seq = len(self.rows)
        payload = digest("commitment", u(seq, 8)) + dumps(body)
        prev = None if subject is None else self.last.get(subject)
        common = [2, seq, START + seq * 1_000_000, kind, actor, digest("commitment", payload), prev]
        if subject is not None:
            self.last[subject] = seq
        self.rows.append((dumps(common + detail), payload))

    def write(self, number: int, content: str, tags: tuple[str, ...] = (), title: str | None = None) -> None:
        """Add an atom, or revise it."""
        subject, replaced = atom_id(number), self.ordinals.get(atom_id(number))
        body = [content, title, "note", sorted(tags), ["inbox"], None, None, "internal", None, None, 0, None]
        detail = [subject, self.given, replaced]
        self.ordinals[subject], self.given = self.given, self.given + 1
        self.append(1 if replaced is None else 2, "user", detail, body, subject)

    def on(self, kind: int, number: int, body: list[Any]) -> None:
        """Append an event of this kind on an atom: tombstone (3), revive (4), tag (5) or untag (6)."""
        subject = atom_id(number)
        self.append(kind, "user", [subject, self.ordinals[subject], None], body, subject)

    def link(self, source: int, target: int, kind: int = 8) -> None:
        """Add an edge (8) or remove it (9)."""
        body = [b"\x3f\x80\0\0", b""] if kind == 8 else ["no more"]
        self.append(kind, "user", [atom_id(source), b"\1", atom_id(target)], body, edge_key(source, target))

    def checkpoint(self) -> None:
        """Append a checkpoint of all roots."""
        roots = all_roots(self.rows, terms, STOP)
        names = [roots[name] for name in ("atoms", "edges", "index", "tags")]
        self.append(10, "user", [roots["overall"]], [names], None)


def small() -> Journal:
    """Return thirteen events of several kinds with two checkpoints and some events after them."""
    journal = Journal()
    journal.write(0, "the daemon listens", ("net", "port"), title="ADR")
    journal.write(1, "daemon of old", ("net",))
    journal.link(1, 0)
    journal.on(3, 1, ["stale"])
    journal.checkpoint()
    journal.write(2, "a third daemon")
    journal.on(5, 2, [["Port"]])
    journal.write(0, "the daemon has moved", ("net",), title="ADR")
    journal.link(1, 0, 9)
    journal.append(7, "user", [b"\x80\0"], ["knows"], None)
    journal.checkpoint()
    journal.on(6, 2, [["port"]])
    return journal


def large() -> Journal:
    """Return a journal of more than 256 ordinals: a segment of the lowest level, and a tail."""
    journal = Journal()
    for number in range(270):
        journal.write(number, f"word{number % 7} item{number}", ("even",) if number % 2 == 0 else ())
    for number in range(0, 40, 4):
        journal.on(3, number, [""])
    for number in range(3):
        journal.write(number * 2 + 2, "changed words", ("odd",))
    journal.on(4, 0, [""])
    journal.checkpoint()
    return journal


def example() -> list[tuple[bytes, bytes]]:
    """Return the events of the worked example."""
    page = example_values()
    return [(bytes.fromhex(page[f"header {n}"]), bytes.fromhex(page[f"payload {n}"])) for n in range(6)]


def example_terms(text: str) -> list[str]:
    """Return the terms that the worked example gives for its texts."""
    page = example_values()
    bodies = [opened(header, payload)[1] for header, payload in example()[1:3]]
    known = {f"{bodies[0][1]}\n{bodies[0][0]}": "terms 0", bodies[0][1]: "heading 0"}
    known |= {bodies[1][0]: "terms 1", "Écoute": "heading 1"}
    return page[known[text]].split()
