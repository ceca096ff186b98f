"""The receipt: what was destroyed, and that it was found before and nowhere after."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends import open_backend
from engine.base.errors import InvalidInputError, RefusedError
from engine.commands import Add
from engine.engine import Engine
from engine.erase import run
from engine.erase.probe import PIECE_BYTES, Occurrences, find_occurrences, pieces_of
from engine.erase.run import ProbeVerdict, judge
from proofs.events import AtomBody, EventKind
from tests.erase.support import SECRET, small
from tests.support.engines import engine_on
from tests.support.leveldb import LEVELDB
from tests.support.workloads import id_of

ONE = id_of(1)


@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
def test_it_is_found_before_and_in_no_file_and_no_answer_after(scheme: str, tmp_path: Path) -> None:
    """The probe is confirmed; nobody who searches the folder for words of it finds any."""
    engine = small(open_backend(f"{scheme}:{tmp_path / 'store'}"))
    receipt = engine.erase(ONE, "asked for")
    probe = receipt.probe
    assert probe is not None
    assert (probe.verdict, probe.reasons, probe.also_in) == (ProbeVerdict.CONFIRMED, (), ())
    assert probe.before.files
    assert {"get", "find", "recall", "history", "log", "context", "bright"} <= set(probe.before.answers)
    assert {"explore-peek", "explore-expand"} <= set(probe.before.answers)
    assert probe.after == Occurrences((), ())
    engine.close()
    words = [
        b"Ermintrude",
        b"Quillfeather",
        b"X81723",
        b"ermintrud",
        b"quillfeath",
        b"passport",
        b"me.md",
        b"travel",
    ]
    for path in tmp_path.rglob("*"):
        if path.is_file():
            assert [word for word in words if word in path.read_bytes()] == [], path.name


def test_the_counts_are_what_happened() -> None:
    """Payloads, bytes, edges, contents and events, and what a look at it said would be destroyed."""
    engine = small()
    wanted = engine.erasable(ONE)
    receipt = engine.erase(ONE, "asked for")
    assert (receipt.payloads, receipt.payload_bytes) == (wanted.payloads, wanted.payload_bytes) != (0, 0)
    assert (receipt.edges, receipt.contents) == (wanted.edges, wanted.contents) == (2, 2)
    assert [event.kind for event in receipt.events] == [EventKind.EDGE_ERASED] * 2 + [EventKind.ERASED]
    assert receipt.payloads == 5 + 3
    assert receipt.purged
    assert receipt.out_of_reach
    assert engine.erasable(ONE).payloads == 0


def test_segments_are_counted() -> None:
    """The segments of the index that held one of its ordinals."""
    engine = engine_on()
    engine.apply_many([])
    for number in range(530):
        engine.add(f"text {number}", id=id_of(number))
    engine.revise(id_of(3), content="text of the tail")
    assert engine.erase(id_of(3), "asked for", probe=False).segments == 1
    assert engine.erase(id_of(529), "asked for", probe=False).segments == 0


def test_in_memory_there_are_no_files_to_look_into() -> None:
    """Then it says that it is inconclusive, and why."""
    probe = small().erase(ONE, "asked for").probe
    assert probe is not None
    assert probe.verdict is ProbeVerdict.INCONCLUSIVE
    assert probe.reasons == ("this kind of store has no files to search",)


def test_who_else_has_the_content_is_named(tmp_path: Path) -> None:
    """Pieces that another atom has prove nothing: that atom is named, and the rest is looked for."""
    with Engine.open(f"sqlite:{tmp_path / 'store'}") as engine:
        first = engine.add(SECRET, source="a").subject
        second = engine.add(SECRET, source="b").subject
        probe = engine.erase(first, "asked for").probe
        assert probe is not None
        assert (probe.verdict, probe.pieces, probe.also_in) == (ProbeVerdict.INCONCLUSIVE, 0, (second,))
        third = engine.add(f"{SECRET} And one more secret: Nightingale-7.", source="c").subject
        probe = engine.erase(third, "asked for").probe
        assert probe is not None
        assert probe.also_in == (second,)
        assert engine.get(second).content == SECRET


def test_what_is_still_found_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """If a file or an answer still has a piece of it, the receipt says so and where."""
    real, calls = find_occurrences, []

    def fake(*args: object) -> Occurrences:
        calls.append(args)
        found = real(*args)  # type: ignore[arg-type]
        return found if len(calls) == 1 else Occurrences(("000005.ldb",), ("recall",))

    monkeypatch.setattr(run, "find_occurrences", fake)
    probe = small().erase(ONE, "asked for").probe
    assert probe is not None
    assert probe.verdict is ProbeVerdict.FAILED
    assert "000005.ldb, recall" in probe.reasons[0]


def test_not_finding_it_before_is_inconclusive() -> None:
    """What was not found before, or could not be looked for, is no evidence after."""
    nowhere, file, answer = Occurrences((), ()), Occurrences(("a",), ()), Occurrences((), ("get",))
    both = Occurrences(("a",), ("get",))
    assert judge(both, nowhere, pieces=1, all_pieces=1, files=True)[0] is ProbeVerdict.CONFIRMED
    for before in (nowhere, file, answer):
        assert judge(before, nowhere, pieces=1, all_pieces=1, files=True)[0] is ProbeVerdict.INCONCLUSIVE
    assert judge(both, nowhere, pieces=0, all_pieces=0, files=True)[0] is ProbeVerdict.INCONCLUSIVE
    assert judge(nowhere, file, pieces=1, all_pieces=1, files=True)[0] is ProbeVerdict.FAILED


def test_pieces_are_short_whole_characters_and_apart() -> None:
    """At most 48 bytes each, valid text, none overlapping; what is too short gives none."""
    body = AtomBody(
        "é" * 500 + " Ωmega " + "word " * 50, "Ttl", "note", (), (), None, None, "internal", None, None, 0
    )
    pieces = pieces_of([body])
    assert 1 < len(pieces) <= 8
    assert all(4 <= len(piece.encode()) <= PIECE_BYTES for piece in pieces)
    assert all(piece in body.content for piece in pieces)
    assert pieces_of([body._replace(content="a b", title=None)]) == []


@pytest.mark.parametrize("reason", ["remove X81723-GHT", "no more x81723-ght!", "(X81723-GHT)"])
def test_a_reason_may_not_tell_a_number_of_the_content(reason: str) -> None:
    """Reasons stay: a word with a digit that stands in the content is refused, and nothing is written."""
    engine = engine_on()
    engine.apply([Add("My passport number is X81723-GHT.", id=ONE)])
    size = engine.size
    with pytest.raises(InvalidInputError, match="reasons are kept"):
        engine.erase(ONE, reason)
    assert engine.size == size
    assert engine.erase(ONE, "the passport expired").events


@pytest.mark.parametrize(
    "copy", ["my  PASSPORT number is X81723-GHT.", " My passport\r\nnumber is X81723-GHT.\n"]
)
def test_a_copy_in_another_case_or_with_other_spaces_is_refused(copy: str) -> None:
    """It is the same content to whoever reads it."""
    engine = engine_on()
    engine.apply([Add("My passport number is X81723-GHT.", id=ONE)])
    engine.erase(ONE, "not ours")
    with pytest.raises(RefusedError):
        engine.add(copy, source="elsewhere")
    assert engine.add("My passport number is secret.", source="elsewhere").changed
