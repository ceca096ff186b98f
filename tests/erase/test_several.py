"""Erasing several atoms at once, chosen by filters over hidden atoms and earlier versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from backends.memory import MemoryBackend
from engine.base.errors import EngineError, InvalidInputError, NotFoundError
from engine.commands import RegisterType
from engine.engine import Engine
from engine.erase import erasure
from engine.erase.erasure import ProbeVerdict
from engine.erase.erasure_probe import find_occurrences
from engine.ledger.layout import ERASING, PAYLOAD
from engine.trust.audit.verify import verify
from proofs.leaves import State
from tests.support.command_line import Cli
from tests.support.engines import engine_on
from tests.support.faults import Fault, FaultBackend

NAME = "Priya"


def told(engine: Engine) -> list[str]:
    """Return the atoms that have to do with Priya: now, earlier, hidden, by a tag, by an edge to her."""
    now = engine.add("Priya likes tea.", tags=["tea"]).id
    earlier = engine.add("The uncle of PRIYA came.").id
    engine.revise(earlier, content="An uncle came.")
    hidden = engine.add("Ask Priya-Marie.", source="chat").id
    engine.tombstone(hidden)
    tagged = engine.add("She called.", tags=["priya"]).id
    linked = engine.add("Pri was late.").id
    entity = engine.relate(NAME, "knows", "Omar").subject.split(" ")[0]
    engine.apply([RegisterType("mentions")])
    engine.link(linked, "mentions", entity)
    engine.add("Priyanka is somebody else.", tags=["tea"])
    return [now, earlier, hidden, tagged, linked, entity]


def test_hidden_atoms_and_earlier_versions_are_found_on_request() -> None:
    """`find` returns hidden atoms and atoms of which an earlier version passes only with `hidden`."""
    engine = engine_on()
    now, earlier, hidden, tagged, linked, entity = told(engine)
    assert {one.id for one in engine.find(mentions=[NAME])} == {now, tagged, linked, entity}
    assert {one.id for one in engine.find(mentions=[NAME], hidden=True)} == set(told(engine_on()))
    assert [one.id for one in engine.find(sources=["chat"], hidden=True)] == [hidden]
    assert engine.find(sources=["chat"]) == []
    assert earlier in {one.id for one in engine.find(hidden=True)}


def test_several_atoms_have_one_receipt_and_one_probe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One call erases many atoms, searches once before and once after, and leaves no word in any payload."""
    searches = []
    real = find_occurrences

    def counted(*args: object) -> object:
        searches.append(args)
        return real(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(erasure, "find_occurrences", counted)
    with Engine.open(f"sqlite:{tmp_path / 'store'}") as engine:
        told(engine)
        ids = [one.id for one in engine.find(mentions=[NAME], hidden=True)]
        wanted = engine.erasable(ids)
        receipt = engine.erase(ids, "asked for")
        assert (receipt.ids, len(searches)) == (tuple(ids), 2)
        assert (receipt.payloads, receipt.edges) == (wanted.payloads, wanted.edges)
        assert receipt.probe is not None
        assert receipt.probe.verdict is ProbeVerdict.CONFIRMED
        assert {engine.get(one).state for one in ids} == {State.ERASED}
        rows = engine.store.backend.scan(PAYLOAD, PAYLOAD + b"\xff")
        assert not any(b"priya" in row.lower().replace(b"priyanka", b"") for _, row in rows)
        assert engine.find(mentions=[NAME], hidden=True) == []
        assert engine.verify().ok


def test_an_unknown_atom_among_several_erases_nothing() -> None:
    """If one of the ids was never recorded, nothing is erased; an empty list is refused."""
    engine = engine_on()
    one = engine.add("one").id
    size = engine.size
    with pytest.raises(NotFoundError):
        engine.erase([one, "11111111-1111-8111-8111-111111111111"], "asked for")
    with pytest.raises(InvalidInputError):
        engine.erase([], "asked for")
    assert engine.size == size


@pytest.mark.parametrize("write", range(1, 5))
def test_several_interrupted_are_all_finished(write: int) -> None:
    """An erasure of several atoms that fails at any write is finished when the store is opened again."""
    inner = MemoryBackend()
    backend = FaultBackend(inner)
    engine = engine_on(backend)
    ids = [engine.add(f"text {number}").id for number in range(3)]
    backend.fault = Fault("after", backend.counts["write"] + write, mode="once")
    with pytest.raises(EngineError):
        engine.erase(ids, "asked for", probe=False)
    again = engine_on(inner)
    assert [again.get(one).state for one in ids] == [State.ERASED] * 3
    assert inner.get(ERASING) is None
    assert verify(inner).ok


def test_the_command_previews_and_erases_by_filter(cli: Cli, surroundings: Path) -> None:
    """`erase --mentions` shows the atoms first, then erases them all; `--list` takes the output of `find`."""
    cli("add", "Priya likes tea.")
    hidden = cli("add", "Priya was here.", "--json").data["subject"]
    cli("tombstone", hidden)
    shown = cli("erase", "--mentions", NAME, "--dry-run")
    assert all(part in shown.out for part in ("2 atoms", "Priya likes tea.", "tombstoned"))
    assert cli("find", "--mentions", NAME, "--hidden", "--json").data[1]["id"] == hidden
    done = cli("erase", "--mentions", NAME, "--reason", "asked for", "--yes", "--json").data
    assert (len(done["ids"]), done["probe"]["after"]["files"]) == (2, [])
    assert cli("erase", "--mentions", NAME, "--reason", "again", "--yes").code == 3
    cli("add", "One more.")
    (surroundings / "ids").write_text(cli("find", "--form", "short").out)
    assert cli("erase", "--list", "ids", "--reason", "asked for", "--yes", "--no-probe").code == 0
    assert cli("erase", "--reason", "asked for", "--yes").code == 2
