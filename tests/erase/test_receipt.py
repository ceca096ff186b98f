"""The receipt of an erasure: what was destroyed, and where the content was found before and after."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends import open_backend
from engine.base.errors import InvalidInputError, RefusedError
from engine.commands import Add
from engine.engine import Engine
from engine.erase import erasure
from engine.erase.erasure import ProbeVerdict, judge
from engine.erase.erasure_probe import PIECE_BYTES, Occurrences, find_occurrences, pieces_of
from proofs.events import AtomBody, EventKind
from tests.erase.support import SECRET, small
from tests.support.engines import engine_on
from tests.support.leveldb import LEVELDB
from tests.support.workloads import id_of

ONE = id_of(1)


@pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])
def test_it_is_found_before_and_in_no_file_and_no_answer_after(scheme: str, tmp_path: Path) -> None:
    """The probe is confirmed, and a search of all files finds no word of the content."""
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
    """The counts of the receipt equal the destroyed data and the forecast of `erasable`."""
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
    """The receipt counts the index segments that contained the atom."""
    engine = engine_on()
    engine.apply_many([])
    for number in range(530):
        engine.add(f"text {number}", id=id_of(number))
    engine.revise(id_of(3), content="text of the tail")
    assert engine.erase(id_of(3), "asked for", probe=False).segments == 1
    assert engine.erase(id_of(529), "asked for", probe=False).segments == 0


def test_in_memory_there_are_no_files_to_look_into() -> None:
    """In memory the probe is inconclusive, because there are no files to search."""
    probe = small().erase(ONE, "asked for").probe
    assert probe is not None
    assert probe.verdict is ProbeVerdict.INCONCLUSIVE
    assert probe.reasons == ("this kind of store has no files to search",)


def test_who_else_has_the_content_is_named(tmp_path: Path) -> None:
    """Atoms that share pieces of the content are named, and only unique pieces are searched for."""
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
    """If a file or an answer still contains a piece, the probe fails and names the place."""
    real, calls = find_occurrences, []

    def fake(*args: object) -> Occurrences:
        calls.append(args)
        found = real(*args)  # type: ignore[arg-type]
        return found if len(calls) == 1 else Occurrences(("000005.ldb",), ("recall",))

    monkeypatch.setattr(erasure, "find_occurrences", fake)
    probe = small().erase(ONE, "asked for").probe
    assert probe is not None
    assert probe.verdict is ProbeVerdict.FAILED
    assert "000005.ldb, recall" in probe.reasons[0]


def test_not_finding_it_before_is_inconclusive() -> None:
    """The probe is inconclusive if the content was not found before, or could not be searched for."""
    nowhere, file, answer = Occurrences((), ()), Occurrences(("a",), ()), Occurrences((), ("get",))
    both = Occurrences(("a",), ("get",))
    assert judge(both, nowhere, pieces=1, all_pieces=1, files=True)[0] is ProbeVerdict.CONFIRMED
    for before in (nowhere, file, answer):
        assert judge(before, nowhere, pieces=1, all_pieces=1, files=True)[0] is ProbeVerdict.INCONCLUSIVE
    assert judge(both, nowhere, pieces=0, all_pieces=0, files=True)[0] is ProbeVerdict.INCONCLUSIVE
    assert judge(nowhere, file, pieces=1, all_pieces=1, files=True)[0] is ProbeVerdict.FAILED


def test_pieces_are_short_whole_characters_and_apart() -> None:
    """Pieces are valid text of at most 48 bytes without overlaps, and very short texts have none."""
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
    """A reason that repeats a word with a digit from the content is refused, and nothing is written."""
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
    """A copy of an erased content that differs only in case or white space is refused."""
    engine = engine_on()
    engine.apply([Add("My passport number is X81723-GHT.", id=ONE)])
    engine.erase(ONE, "not ours")
    with pytest.raises(RefusedError):
        engine.add(copy, source="elsewhere")
    assert engine.add("My passport number is secret.", source="elsewhere").changed
