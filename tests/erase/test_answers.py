"""Answers about an erased atom: it is listed, but without any of its content."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, MethodType, ModuleType

import pytest

from engine.base.errors import ConflictError, InvalidInputError, NotFoundError, RefusedError
from engine.base.validation import show_id
from engine.commands import Add
from engine.engine import Engine
from engine.ledger.entities import entity_id
from engine.query.filters import Filters
from proofs.events import EventKind
from proofs.labels import TERMS, label_of
from proofs.leaves import State
from tests.erase.support import OTHER, SECRET, erased, small
from tests.support.engines import engine_on, refuses, unchanged_by
from tests.support.workloads import id_of

ONE, TWO, THREE = id_of(1), id_of(2), id_of(3)


def test_get_shows_that_it_was_erased_when_why_and_by_whom() -> None:
    """`get` returns state, numbers and times of an erased atom, but no content, title, tags or source."""
    before, engine = small(), erased()
    known, shown = before.get(ONE), engine.get(ONE)
    assert (shown.state, shown.content, shown.title, shown.tags) == (State.ERASED, "", None, ())
    assert (shown.kind, shown.buckets, shown.source, shown.key, shown.provenance) == ("", (), None, None, "")
    assert (shown.version, shown.ordinal, shown.created_seq) == (
        known.version,
        known.ordinal,
        known.created_seq,
    )
    assert shown.created == known.created
    assert shown.tombstone is not None
    assert (shown.tombstone.reason, shown.tombstone.by) == ("asked for", "user")


def test_its_history_is_listed_with_destroyed_bodies() -> None:
    """The history lists all events with kind, time, actor and id, and marks erased contents as destroyed."""
    engine = erased()
    items = engine.history(ONE)
    assert [item.kind for item in items] == [
        EventKind.ATOM_ADDED,
        EventKind.ATOM_REVISED,
        EventKind.TAGS_ADDED,
        EventKind.ATOM_TOMBSTONED,
        EventKind.ATOM_REVIVED,
        EventKind.ERASED,
    ]
    assert all(item.detail["destroyed"] is True for item in items[:-1])
    assert items[-1].detail["reason"] == "asked for"
    assert {item.event_id for item in items[:-1]} == {item.event_id for item in small().history(ONE)}
    assert [item.seq for item in engine.log()] == list(range(engine.size))


def test_no_search_finds_it() -> None:
    """No search by words, tags, sources, walks or lists finds the atom, and its unique tags disappear."""
    engine = erased()
    assert engine.recall("passport Quillfeather").hits == ()
    assert {found.id for found in engine.find(limit=9)} == {TWO, THREE}
    assert engine.find(limit=9, filters=Filters(sources=("me.md",))) == []
    assert engine.tags().people == {"paper": 1}
    assert engine.edges(TWO, direction="both", tombstoned=True) == []
    assert engine.edges(ONE, direction="both", tombstoned=True) == []
    assert engine.structured_graph("passport").nodes == ()
    explorer = engine.explorer()
    assert SECRET[:20] not in repr(explorer.explore_recall("passport"))


def test_an_edge_at_it_is_a_stub() -> None:
    """`get_edge` returns when an erased edge was erased, without its weight and data."""
    edge = erased().get_edge(ONE, "references", TWO)
    assert (edge.state, edge.weight, edge.data) == (State.ERASED, 0.0, b"")
    assert edge.tombstone is not None
    assert edge.tombstone.reason == f"erased with {ONE}"


def test_as_of_before_it_is_erased_too_and_the_rest_is_as_it_was() -> None:
    """`as_of` an earlier time shows the atom as erased, and all other atoms as they were."""
    before, engine = small(), erased()
    for seq in range(1, before.size):
        assert engine.get(ONE, as_of=seq).state is State.ERASED
        with engine.as_of(seq) as past, before.as_of(seq) as known:
            assert past.get(ONE).content == ""
            assert past.recall("passport").hits == ()
            ids = {found.id for found in past.find(limit=9)}
            assert ids == {found.id for found in known.find(limit=9)} - {ONE}
            if TWO in ids:
                assert past.get(TWO) == known.get(TWO)
            with pytest.raises(RefusedError, match="cannot be recomputed"):
                past.root()
    assert engine.root(as_of=engine.size - 1) == engine.root()


def test_a_root_of_before_it_was_added_is_what_it_was() -> None:
    """An earlier root is refused only for sizes at which it covers content that was erased later."""
    engine = engine_on()
    engine.add("first", id=TWO)
    before = engine.root()
    engine.add(SECRET, id=ONE)
    engine.erase(ONE, "asked for")
    middle = engine.root()
    engine.add("last", id=THREE)
    assert engine.root(as_of=before.size - 1) == before
    assert engine.root(as_of=middle.size - 1) == middle
    with pytest.raises(RefusedError):
        engine.root(as_of=before.size)


COMMANDS: dict[str, tuple[type[Exception], Callable[[Engine], object]]] = {
    "add under its id": (RefusedError, lambda engine: engine.add("new", id=ONE)),
    "add its content": (RefusedError, lambda engine: engine.add(SECRET)),
    "add an older content of it": (RefusedError, lambda engine: engine.add(f"{SECRET} Old.")),
    "revise it": (ConflictError, lambda engine: engine.revise(ONE, content="new")),
    "revise another to it": (RefusedError, lambda engine: engine.revise(TWO, content=SECRET)),
    "revive": (RefusedError, lambda engine: engine.revive(ONE)),
    "tag": (ConflictError, lambda engine: engine.tag(ONE, "new")),
    "untag": (ConflictError, lambda engine: engine.untag(ONE, "paper")),
    "link from it": (ConflictError, lambda engine: engine.link(ONE, "references", TWO)),
    "link to it": (ConflictError, lambda engine: engine.link(TWO, "references", ONE)),
    "merge into it": (ConflictError, lambda engine: engine.merge(ONE, TWO, force=True)),
    "merge it": (ConflictError, lambda engine: engine.merge(TWO, ONE, force=True)),
    "unmerge it": (ConflictError, lambda engine: engine.unmerge(ONE)),
    "relate from it": (ConflictError, lambda engine: engine.relate("a", "b", "c", source=ONE)),
    "relate what it said": (RefusedError, lambda engine: engine.relate(SECRET, "is", "c")),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_that_would_bring_it_back_are_refused(name: str) -> None:
    """Commands that would restore an erased atom are refused with an error and change no row."""
    error, call = COMMANDS[name]
    engine = erased()
    engine.catch_up()
    assert refuses(engine, error, call, engine)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["tombstone", "unlink", "erase"])
def test_commands_that_hide_it_are_nothing_to_do(name: str) -> None:
    """Commands that hide an erased atom do nothing."""
    engine = erased()
    calls: dict[str, Callable[[], object]] = {
        "tombstone": lambda: engine.tombstone(ONE),
        "unlink": lambda: engine.unlink(ONE, "references", TWO),
        "erase": lambda: engine.erase(ONE, "again"),
    }
    engine.catch_up()
    assert unchanged_by(engine, calls[name])


def test_who_insists_has_it_back_as_a_new_version() -> None:
    """A forced add gives the id a new version, while the destroyed versions stay destroyed."""
    engine = erased()
    engine.add(SECRET, id=ONE, tags=["back"], force=True)
    shown = engine.get(ONE)
    assert (shown.state, shown.version, shown.content, shown.tags) == (State.LIVE, 3, SECRET, ("back",))
    assert [hit.id for hit in engine.recall("passport").hits] == [ONE]
    engine.link(ONE, "references", TWO)
    assert engine.get_edge(ONE, "references", TWO).state is State.LIVE
    assert sum("destroyed" in item.detail for item in engine.history(ONE)) == 5
    assert engine.verify().ok
    engine.erase(ONE, "once more")
    assert engine.get(ONE).state is State.ERASED
    assert engine.verify().ok


def test_forgetting_keeps_no_hash() -> None:
    """Without hashes the content may be added again under another id, and under the same id with `force`."""
    engine = small()
    assert engine.erase(ONE, "asked for", remember=False).contents == 0
    assert engine.add(SECRET).changed
    with pytest.raises(RefusedError):
        engine.add("new", id=ONE)


def test_an_entity_that_was_erased_is_not_made_again_by_its_name() -> None:
    """Relating an erased entity by its name is refused, and with `force` the entity returns under its id."""
    engine = engine_on()
    engine.relate("Ermintrude", "knows", "Dougal")
    entity = show_id(entity_id(engine.store.identity.id_key, "Ermintrude"))
    engine.erase(entity, "asked for")
    with pytest.raises(RefusedError):
        engine.relate("ermintrude", "knows", "Zebedee")
    engine.relate("Ermintrude", "knows", "Dougal", force=True)
    assert engine.get(entity).content == "Ermintrude"


def test_ingest_leaves_out_what_was_erased_and_takes_the_rest(tmp_path: Path) -> None:
    """Ingest reports an erased piece and adds the other pieces; with `force` it adds all of them."""
    (tmp_path / "notes").mkdir()
    note = tmp_path / "notes" / "me.md"
    note.write_text(f"# Papers\n\n{SECRET}\n\n# Kitchen\n\n{OTHER}\n")
    engine = engine_on()
    engine.ingest([note.parent])
    atom = engine.recall("passport").hits[0].id
    engine.erase(atom, "asked for")
    root = engine.root()
    report = engine.ingest([note.parent])
    assert not report.changed
    assert [(item.source, item.kind) for item in report.warnings] == [("notes/me.md", "erased text")]
    assert (report.erased, report.skipped) == (1, ())
    assert "1 erased text is still in the file" in report.warnings[0].reason
    assert engine.root() == root
    moved = tmp_path / "notes" / "other.md"
    moved.write_text(note.read_text())
    report = engine.ingest([moved])
    assert report.added == 1
    assert engine.recall("passport").hits == ()
    assert engine.ingest([note.parent], force=True).added == 2
    assert len(engine.recall("passport").hits) >= 1


@pytest.mark.parametrize("reason", [SECRET, f"because: {SECRET}", "two\nlines", "x" * 2000])
def test_a_reason_that_says_too_much_is_refused(reason: str) -> None:
    """A reason that repeats the content or breaks the rules of reasons is refused."""
    engine = small()
    engine.catch_up()
    assert refuses(engine, InvalidInputError, engine.erase, ONE, reason)


def test_what_was_never_recorded_cannot_be_erased() -> None:
    """Erasing an atom that was never recorded is an error and appends no event."""
    engine = small()
    engine.catch_up()
    assert refuses(engine, NotFoundError, engine.erase, id_of(77), "asked for")


def test_a_merged_atom_is_erased_with_its_trace() -> None:
    """Erasing a merged near-duplicate also erases the edge that recorded the merge."""
    engine = engine_on()
    text = "the daemon listens on port 8080 of the loopback device and on nothing else at all"
    engine.apply([Add(text, id=ONE, tags=["a"]), Add(f"{text}!", id=TWO, tags=["b"])])
    engine.merge(ONE, TWO)
    engine.erase(TWO, "asked for")
    assert engine.get_edge(ONE, "supersedes", TWO).data == b""
    with pytest.raises(ConflictError):
        engine.unmerge(TWO)
    assert engine.get(ONE).tags == ("a", "b")
    assert engine.verify().ok


def held(one: object, word: bytes) -> list[str | bytes]:
    """Return the strings with a word or label among the objects that an object refers to, directly or not."""
    seen: dict[int, object] = {}
    open_ones = [one]
    while open_ones:
        found = open_ones.pop()
        if id(found) not in seen and not isinstance(found, type | ModuleType | FunctionType | MethodType):
            seen[id(found)] = found
            open_ones += gc.get_referents(found)
    texts = [text for text in seen.values() if isinstance(text, str | bytes)]
    return [text for text in texts if word in (text.encode() if isinstance(text, str) else text)]


def test_the_caches_of_the_index_have_none_of_its_words() -> None:
    """Searching for a word keeps its label and its postings in memory, until the atom is erased."""
    engine = small()
    engine.apply([Add(f"filler {number} of many words") for number in range(600)])
    assert engine.recall("quillfeather").hits
    label = label_of(engine.store.identity.label_key, TERMS, b"quillfeath")
    assert held(engine.store.index, label)
    engine.erase(ONE, "asked for", probe=False)
    assert held(engine.store.index, label) == held(engine.store.index, b"quillfeath") == []
