"""Taking in the sessions that clients keep."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.base.errors import NotFoundError
from engine.capture.clients import CLIENTS
from engine.capture.session_import import OUTPUT_CHARS, import_sessions
from engine.engine import Engine
from engine.exchange.other_programs.item_atoms import ImportReport
from tests.capture.samples import DECISION, QUESTION, SESSION, claude_file, claude_line, claude_session
from tests.support.engines import engine_on

SOURCE = f"claude-code/{SESSION}"


@pytest.fixture
def engine() -> Engine:
    """Return an empty store that redacts secrets."""
    return Engine.open("memory:", secrets="redact")


def taken(engine: Engine, place: Path, client: str = "claude-code", **options: object) -> ImportReport:
    """Import the sessions of a client from a folder."""
    found = CLIENTS[client].find(place)
    return import_sessions(engine.store, CLIENTS[client], found, **options)  # type: ignore[arg-type]


def contents(engine: Engine, **narrow: object) -> list[str]:
    """Return the contents of the turns, in the order of the session."""
    wanted = {"kinds": ["message", "tool-output"], **narrow}
    found = [engine.get(one.id) for one in engine.find(limit=1000, **wanted)]  # type: ignore[arg-type]
    return [one.content or "" for one in sorted(found, key=lambda one: one.sequence or 0)]


def test_turns_are_atoms_with_session_project_role_time_and_file(engine: Engine, tmp_path: Path) -> None:
    """Each turn has the source of its session, its speaker, its time, and the tag of its project."""
    taken(engine, claude_file(tmp_path).parent)
    hit = engine.recall("What did we decide about the retry limit?").hits[0]
    assert (hit.source, hit.title, hit.tags) == (SOURCE, "parcel 2026-03-04", ("project/parcel",))
    texts = contents(engine)
    assert texts[0] == f"User: {QUESTION}"
    assert f"Assistant: {DECISION}" in texts
    (output,) = (engine.get(one.id) for one in engine.find(kinds=["tool-output"]))
    assert (output.title, output.provenance) == ("parcel 2026-03-04 src/up.py", "quarantine")


def test_output_of_tools_is_cut(engine: Engine, tmp_path: Path) -> None:
    """The output of a tool is one atom with its beginning, its end, and the number of characters left out."""
    taken(engine, claude_file(tmp_path).parent)
    (output,) = contents(engine, kinds=["tool-output"])
    assert output.startswith("RETRIES = 3")
    assert "characters left out" in output
    assert len(output) < OUTPUT_CHARS + 100


def test_what_is_not_taken_in_is_counted_and_named(engine: Engine, tmp_path: Path) -> None:
    """Lines of unknown types, malformed lines and blocks without text are counted, and stop nothing."""
    lines = [
        *claude_session(),
        "{broken",
        {"type": "new-thing"},
        claude_line("user", [{"type": "image"}], "i"),
    ]
    left = dict(taken(engine, claude_file(tmp_path, lines).parent).left)
    assert left["malformed line"] == 1
    assert left["line of type 'new-thing'"] == 1
    assert left["block of type 'image'"] == 1
    assert left["line of a sub-agent"] == 1
    assert left["summary of a compaction"] == 1
    assert left["command of the client"] == 1


def test_secrets_are_redacted(engine: Engine, tmp_path: Path) -> None:
    """A key in a turn is redacted, also if the bound of a tool's output cuts it."""
    block = {"type": "tool_result", "content": "a " * 297 + "AKIAIOSFODNN7EXAMPLE" + " b" * 2000}
    taken(engine, claude_file(tmp_path, [*claude_session(), claude_line("user", [block], "t")]).parent)
    assert not [text for text in contents(engine) if "AKIA" in text]


def test_a_second_import_appends_nothing(engine: Engine, tmp_path: Path) -> None:
    """Importing again appends no event; a dry run appends none either, and reports the same counts."""
    place = claude_file(tmp_path).parent
    expected = taken(engine, place, dry_run=True)
    assert engine.size == 1
    assert taken(engine, place) == expected
    size = engine.size
    assert not taken(engine, place).changed
    assert engine.size == size


def test_only_new_lines_are_read(engine: Engine, tmp_path: Path) -> None:
    """A later import reads what was written since, and leaves out a line that is not complete yet."""
    path = claude_file(tmp_path)
    taken(engine, path)
    later = json.dumps(claude_line("user", "Ship it on Friday.", "u9"))
    with path.open("a") as file:
        file.write(later[:20])
    assert not taken(engine, path).changed
    with path.open("a") as file:
        file.write(later[20:] + "\n")
    assert taken(engine, path).added == 1
    assert "User: Ship it on Friday." in contents(engine)


def test_an_import_in_parts_gives_what_one_import_gives(tmp_path: Path) -> None:
    """However far each reading goes, and if a reading is lost, the atoms are the same."""
    path, atoms = claude_file(tmp_path), []
    for bytes_max in (1, 700, 1 << 30):
        engine = engine_on()
        while taken(engine, path, bytes_max=bytes_max).changed:
            pass
        found = [engine.get(one.id) for one in engine.find(limit=100)]
        atoms.append({(one.source, one.key, one.content, one.sequence, one.tags) for one in found})
    assert atoms[0] == atoms[1] == atoms[2]


def test_an_erased_session_stays_erased(engine: Engine, tmp_path: Path) -> None:
    """Once a session was erased whole by its source, neither old nor new turns of it come back."""
    path = claude_file(tmp_path)
    taken(engine, path)
    engine.erase([one.id for one in engine.find(sources=[SOURCE], limit=100)], "unwanted")
    with path.open("a") as file:
        file.write(json.dumps(claude_line("user", "More.", "u9")) + "\n")
    assert not taken(engine, path).changed
    assert contents(engine) == []


def test_a_session_is_recorded_after_another_was_erased(engine: Engine, tmp_path: Path) -> None:
    """The text of a session is its own: erasing one session keeps no other one out, nor finds it."""
    path = claude_file(tmp_path)
    taken(engine, path)
    engine.erase([one.id for one in engine.find(sources=[SOURCE], limit=100)], "unwanted")
    other = claude_file(tmp_path, [claude_line("user", "A giraffe.", "g1")], "5e2")
    assert not taken(engine, other).skipped
    (session,) = engine.find(kinds=["session"])
    assert engine.get(session.id).content == "Session 5e2 of claude-code in parcel, 2026-03-04"
    engine.erase([one.id for one in engine.find(sources=["claude-code/5e2"], limit=100)], "unwanted")
    claude_file(tmp_path, [claude_line("user", f"A {word}.", word) for word in ("lion", "dog")], "5e2")
    assert not taken(engine, other).changed


def test_a_replaced_transcript_is_read_from_its_beginning(engine: Engine, tmp_path: Path) -> None:
    """If a transcript is shorter than what was read of it, it is read again."""
    path = claude_file(tmp_path)
    taken(engine, path)
    claude_file(tmp_path, [claude_line("user", "A new beginning.", "n1")])
    assert taken(engine, path).added == 1


def test_places_without_sessions_are_refused(tmp_path: Path) -> None:
    """A missing folder is an error."""
    with pytest.raises(NotFoundError, match="no sessions of claude-code"):
        CLIENTS["claude-code"].place(tmp_path / "missing")
