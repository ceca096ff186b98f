"""A rescue keeps what the hashes of the journal confirm, and says what is lost."""

import re
from pathlib import Path

import pytest

from backends import open_backend
from engine.base.errors import BusyError, CorruptionError, InvalidInputError, NotFoundError, RefusedError
from engine.commands.facts import AppendFact
from engine.engine import Engine
from engine.exchange.rescue.rescue_run import rescue
from engine.ledger.layout import FAMILIES, LOG, journal_key, payload_key
from tests.exchange.rescue.stores import (
    ATOMS,
    change_rows,
    contents_in,
    flipped,
    made,
    opened,
    read_row,
    rescued,
    text_of,
)
from tests.support.engines import put_rows
from tests.support.leveldb import LEVELDB
from tests.support.workloads import id_of

pytestmark = pytest.mark.slow

BOTH = pytest.mark.parametrize("scheme", [LEVELDB, "sqlite"])


@BOTH
def test_an_undamaged_store_is_rescued_whole(place: Path, scheme: str) -> None:
    """A rescue of an undamaged store gives the same root and loses nothing."""
    url = f"{scheme}:{place}"
    root = made(url)
    found, _ = rescued(url, place)
    assert (found.root, found.events, found.proved) == (root, ATOMS + 1, ATOMS + 1)
    assert found.complete
    assert found.backend == scheme


@BOTH
def test_a_store_with_damaged_derived_rows_is_rescued_whole(place: Path, scheme: str) -> None:
    """If every derived row is damaged, the rescue still gives the same root: it computes them again."""
    url = f"{scheme}:{place}"
    root = made(url)
    with open_backend(url) as backend:
        keys = [key for key, _ in backend.scan() if not key.startswith((b"j/", b"p/", LOG))]
    change_rows(url, dict.fromkeys(keys, b"\xff" * 7))
    assert rescued(url, place)[0].root == root


@BOTH
def test_a_missing_header_ends_the_journal(place: Path, scheme: str) -> None:
    """The events before a missing header are kept, and the report counts the others as lost."""
    url = f"{scheme}:{place}"
    made(url)
    change_rows(url, {journal_key(30): None})
    found, new = rescued(url, place)
    assert (found.events, found.lost, found.recorded) == (30, ATOMS - 29, ATOMS + 1)
    assert found.reason == "the header of event 30 is missing"
    assert len(contents_in(new)) == 29


@BOTH
def test_a_missing_content_ends_the_journal(place: Path, scheme: str) -> None:
    """By default, no event is kept after an event whose content is lost; the report names that event."""
    url = f"{scheme}:{place}"
    made(url)
    change_rows(url, {payload_key(20): None})
    found, _ = rescued(url, place)
    assert (found.events, found.lost_contents, found.reason) == (
        20,
        (20,),
        "the content of event 20 is missing",
    )
    assert not found.complete


def test_with_erase_lost_only_the_atom_of_a_lost_content_is_missing(place: Path) -> None:
    """With `erase_lost`, all other atoms are kept; the journal says in the open that a content was lost."""
    url = f"sqlite:{place}"
    made(url)
    change_rows(url, {payload_key(20): b"not what was written"})
    found, new = rescued(url, place, erase_lost=True)
    assert (found.events, found.size, found.erased) == (ATOMS + 1, ATOMS + 2, (id_of(19),))
    assert contents_in(new) == {id_of(n): text_of(n) for n in range(ATOMS) if n != 19}
    with Engine.open(new) as engine:
        last = engine.history(id_of(19))[-1]
        assert (last.kind.name, last.actor) == ("ERASED", "rescue")
        engine.add("life goes on")


def test_a_lost_content_of_an_edge_is_recorded_as_an_erased_edge(place: Path) -> None:
    """With `erase_lost`, an edge whose content is lost is erased, and its atoms are kept."""
    url = f"sqlite:{place}"
    made(url)
    with opened(url) as engine:
        seq = engine.link(id_of(1), "references", id_of(2)).events[0].seq
        engine.add("after the edge", id=id_of(90))
    change_rows(url, {payload_key(seq): None})
    found, new = rescued(url, place, erase_lost=True)
    assert found.erased == ()
    with Engine.open(new) as engine:
        assert engine.edges(id_of(1)) == []
        assert engine.get(id_of(90)).content == "after the edge"


def test_a_lost_content_is_erased_together_with_its_edges(place: Path) -> None:
    """The atom of a lost content is erased after its edges, as the rules of the journal demand."""
    url = f"sqlite:{place}"
    made(url)
    with opened(url) as engine:
        engine.link(id_of(1), "references", id_of(2))
        engine.link(id_of(2), "references", id_of(3))
    change_rows(url, {payload_key(3): None, payload_key(2): None})
    found, new = rescued(url, place, erase_lost=True)
    assert found.erased == tuple(sorted((id_of(1), id_of(2))))
    assert len(contents_in(new)) == ATOMS - 2


def test_a_lost_fact_about_an_unrecorded_atom_ends_the_journal(place: Path) -> None:
    """With `erase_lost`, a journal ends before a lost fact about an atom that no event can erase."""
    url = f"sqlite:{place}"
    made(url)
    with opened(url) as engine:
        seq = engine.size
        engine.apply([AppendFact(40, id_of(90), b"a fact")])
        engine.add("after the fact")
    change_rows(url, {payload_key(seq): None})
    found, new = rescued(url, place, erase_lost=True)
    assert (found.events, found.size, found.erased) == (seq, seq, ())
    assert len(contents_in(new)) == ATOMS


def test_the_content_of_the_first_event_cannot_be_replaced(place: Path) -> None:
    """Without the content of event 0, which holds the key of the ids, no new store is made."""
    url = f"sqlite:{place}"
    made(url)
    change_rows(url, {payload_key(0): None})
    with pytest.raises(CorruptionError, match="the content of event 0 is missing"):
        rescue(url, f"sqlite:{place}.new", erase_lost=True)
    assert not Path(f"{place}.new").exists()


@BOTH
def test_what_was_erased_stays_erased_if_the_erasing_event_is_lost(place: Path, scheme: str) -> None:
    """If the journal must end before an erasure, the new journal repeats the erasure at its end."""
    url = f"{scheme}:{place}"
    made(url)
    with opened(url) as engine:
        engine.erase(id_of(4), "a secret")
        erased = engine.size - 1
    change_rows(url, {journal_key(30): None})
    found, new = rescued(url, place)
    assert (found.events, found.size, found.erased) == (30, 31, (id_of(4),))
    with Engine.open(new) as engine:
        assert (
            engine.history(id_of(4))[-1].detail["reason"] == f"event {erased} of the damaged store erased it"
        )
        with pytest.raises(RefusedError):
            engine.add(text_of(4))


def test_a_destroyed_content_is_not_taken_back(place: Path) -> None:
    """If the bytes of an erased content are still in the file, the new store does not have them."""
    url = f"sqlite:{place}"
    made(url)
    payload = read_row(url, payload_key(5))
    with opened(url) as engine:
        engine.erase(id_of(4), "a secret")
    change_rows(url, {payload_key(5): payload})
    _, new = rescued(url, place)
    assert not any(text_of(4).encode() in file.read_bytes() for file in place.parent.glob("new-store*"))
    assert id_of(4) not in contents_in(new)


@pytest.mark.parametrize("seq", [17, ATOMS])
@pytest.mark.parametrize("at", [0, 12])
def test_a_damaged_header_ends_the_journal(place: Path, seq: int, at: int) -> None:
    """No event is kept from a changed header on, whether or not the header still decodes."""
    url = f"sqlite:{place}"
    made(url)
    change_rows(url, {journal_key(seq): flipped(read_row(url, journal_key(seq)), at, bit=0)})
    found, new = rescued(url, place)
    assert found.events <= seq
    assert contents_in(new) == {id_of(n): text_of(n) for n in range(found.events - 1)}
    assert re.search("of (the )?event", found.reason)


def test_a_header_with_many_changed_bytes_ends_the_proved_journal(place: Path) -> None:
    """A header that the log does not commit to is not taken, nor are the events of its subtree after it."""
    url = f"sqlite:{place}"
    made(url)
    raw = read_row(url, journal_key(33))
    change_rows(url, {journal_key(33): raw.replace(b"user", b"root")})
    found, _ = rescued(url, place)
    assert found.events == 32
    assert found.reason == "the log commits to other headers of the events 32 to 39"


def test_changed_headers_are_kept_on_request(place: Path) -> None:
    """With `unconfirmed`, such events are kept, and the report says how many are confirmed."""
    url = f"sqlite:{place}"
    made(url)
    raw = read_row(url, journal_key(33))
    change_rows(url, {journal_key(33): raw.replace(b"user", b"root")})
    found = rescue(url, f"sqlite:{place}-new", unconfirmed=True)
    assert (found.events, found.proved) == (ATOMS + 1, 0)


@pytest.mark.parametrize("change", ["missing", "one bit", "nonsense"])
def test_a_damaged_state_of_the_log_costs_no_event(place: Path, change: str) -> None:
    """Without the row `meta/log`, or with a damaged one, all events are rescued."""
    url = f"sqlite:{place}"
    root = made(url)
    raw = read_row(url, LOG)
    change_rows(url, {LOG: {"missing": None, "one bit": flipped(raw, -20), "nonsense": b"\xff\xfe"}[change]})
    found, _ = rescued(url, place)
    assert (found.root, found.lost) == (root, 0)


def test_a_checkpoint_over_a_wrong_root_ends_the_journal(place: Path) -> None:
    """An event that verification would never accept is not taken, although its hashes are right."""
    url = f"sqlite:{place}"
    made(url, 10)
    with opened(url) as engine:
        rows = [key for key, _ in engine.store.backend.scan_prefix(FAMILIES["tags"])]
        change = engine.store.backend.get(rows[0]) or b""
        with open_backend(url) as other:
            put_rows(other, {rows[0]: flipped(change, -1)})
        size = engine.size
        engine.checkpoint()
    found, _ = rescued(url, place)
    assert found.events in (size, size + 1)


def test_a_memory_among_others_is_rescued_alone(tmp_path: Path) -> None:
    """Of a file with several memories, the named one is rescued, and no row of the others gets in."""
    place = tmp_path / "store"
    roots = {name: made(f"sqlite+{name}:{place}", 20 + number) for number, name in enumerate("abc")}
    change_rows(f"sqlite+b:{place}", {LOG: None})
    found, _ = rescued(f"sqlite+b:{place}", place)
    assert (found.root, found.events) == (roots["b"], 22)


def test_the_new_store_may_be_a_memory_in_a_file(tmp_path: Path) -> None:
    """A rescued store can be put into a file that has other memories."""
    root = made(f"sqlite:{tmp_path / 'store'}")
    made(f"sqlite+other:{tmp_path / 'file'}")
    found = rescue(f"sqlite:{tmp_path / 'store'}", f"sqlite+saved:{tmp_path / 'file'}")
    with Engine.open(f"sqlite+saved:{tmp_path / 'file'}", create=False) as engine:
        assert engine.root().root == root == found.root


def test_nothing_is_written_over(tmp_path: Path) -> None:
    """The new store must not exist, whatever is there."""
    made(f"sqlite:{tmp_path / 'store'}")
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(InvalidInputError, match="already"):
        rescue(f"sqlite:{tmp_path / 'store'}", f"sqlite:{tmp_path / 'taken'}")
    assert (tmp_path / "taken").read_text() == "mine"


def test_a_missing_store_is_reported(tmp_path: Path) -> None:
    """There is an error of its own if nothing exists at the path."""
    with pytest.raises(NotFoundError, match="there is no store"):
        rescue(str(tmp_path / "nothing"), str(tmp_path / "new"))


@BOTH
def test_an_open_store_is_not_rescued(place: Path, scheme: str) -> None:
    """While this process has the store open, its files may change, so the rescue is refused."""
    with Engine.open(f"{scheme}:{place}"), pytest.raises(BusyError, match="in use"):
        rescue(f"{scheme}:{place}", f"sqlite:{place}.new")
