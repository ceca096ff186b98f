"""What was given to a session does not come back as memory."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from engine.capture.hook_events import context_for, event_of
from engine.capture.served import HEADING, VARIABLE, Given, forget, receipts, record
from engine.capture.transcripts import ASSISTANT, TOOL, USER
from engine.engine import Engine
from engine.mcp.dispatch import Dispatcher
from engine.mcp.profiles import profile_of
from engine.memory.lease import Lease
from tests.capture.samples import claude_file, claude_line
from tests.capture.test_session_import import contents, taken
from tests.support.soak import times

NAMES = ("otter", "badger", "heron", "lynx", "marten", "finch", "adder", "stoat", "plover", "weasel")
VERBS = ("guards", "counts", "paints", "moves", "repairs", "hides", "measures", "carries", "washes")
THINGS = ("kettles", "ladders", "lanterns", "barrels", "windows", "bridges", "clocks", "anchors", "ropes")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep the receipts in a folder of the test."""
    monkeypatch.setenv(VARIABLE, str(tmp_path / "receipts"))
    return tmp_path / "receipts"


def sentence(rng: Random) -> str:
    """Return a sentence that is hardly ever made twice."""
    parts = [
        f"the {rng.choice(NAMES)} {rng.choice(VERBS)} {rng.randrange(2, 999)} {rng.choice(THINGS)}"
        for _ in "ab"
    ]
    return f"On some days {parts[0]} while {parts[1]}."


def given_to(engine: Engine, session: str, prompt: str) -> str:
    """Return what a hook gives to a session, after its receipt was written."""
    value = {"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": prompt}
    text = context_for(engine.view, event_of("claude-code", value), 400)
    record(engine.store, "claude-code", session, text)
    return text


def played(rng: Random, notes: str, own: list[str]) -> list[dict[str, Any]]:
    """Return a session with notes, as clients and assistants repeat them, and with a person's own words."""
    block = f"{notes}\n"
    rewrapped = "\n".join(line.strip().replace(" ", "  ", 1) for line in notes.splitlines())
    quoted = "\n".join(f"> {line.strip().upper()}" for line in notes.splitlines())
    user = [f"{block}{own[0]}", f"{own[1]}\n\n{block}\n{own[2]}", f"{own[3]}\n\n<hook>{notes}</hook>"]
    tool = {"type": "tool_result", "content": [{"type": "text", "text": rng.choice([notes, rewrapped])}]}
    assistant = f"{rng.choice([rewrapped, quoted])}\n\nI use this now."
    turns = [("user", one) for one in user] + [
        ("user", [tool]),
        ("assistant", [{"type": "text", "text": assistant}]),
    ]
    rng.shuffle(turns)
    return [claude_line(role, content, f"u{at}") for at, (role, content) in enumerate(turns)]


def test_served_texts_are_not_taken_in_and_own_words_are(tmp_path: Path) -> None:
    """In generated sessions with notes from the memory, no note is stored again and no own word is lost."""
    rng = Random(5)
    engine = Engine.open("memory:", secrets="redact")
    notes = [sentence(rng) for _ in range(120)]
    for note in notes:
        engine.add(note, source="notes")
    for number in range(times(200)):
        session, asked = f"s{number}", rng.choice(notes)
        text = given_to(engine, session, asked)
        # The person also says the words of a note that was shown, which are then the person's own.
        own = [sentence(rng), f"Is it true? {asked}", asked, f"{sentence(rng)} No."]
        taken(engine, claude_file(tmp_path, played(rng, text, own), session))
        stored = "\n".join(contents(engine, sources=[f"claude-code/{session}"]))
        for one in own:
            assert one in stored
        assert stored.count(asked) == 2
        assert asked.upper() not in stored
        assert "[was shown " in stored
        assert HEADING not in stored


def cleared(engine: Engine, role: str, text: str, session: str = "s") -> str:
    """Return the text of a turn without what the session was given."""
    return Given(engine.store, session, receipts(engine.store)).cleared(role, text, None)


@pytest.fixture
def engine() -> Engine:
    """Return a store with one note, which was given to the session `s`."""
    engine = Engine.open("memory:")
    engine.add("The uploader tries five times before it gives up for the day.", source="notes")
    given_to(engine, "s", "How often does the uploader try before it gives up?")
    return engine


def test_changed_facts_are_kept(engine: Engine) -> None:
    """A line with another number or a negation says something new; other small changes do not."""
    said = "The uploader tries five times before it gives up for the day"
    assert cleared(engine, ASSISTANT, f"- {said}, sadly").startswith("[was shown ")
    for new in (said.replace("five", "5"), said.replace("gives", "never gives"), said + " and then 7 more"):
        assert cleared(engine, ASSISTANT, new) == new


def test_only_the_session_that_was_given_a_text_is_cleared_of_it(engine: Engine) -> None:
    """Another session may say the same."""
    text = "The uploader tries five times before it gives up for the day."
    assert cleared(engine, TOOL, text, "other") == text
    assert cleared(engine, USER, text) == text


def test_answers_of_tools_leave_receipts(engine: Engine) -> None:
    """What the server for agents gives is recognised in every session of that time."""
    dispatcher = Dispatcher(profile_of("memory"), Lease(lambda: engine), receipts=True)
    asked = {"name": "recall", "arguments": {"query": "uploader gives up"}}
    answer = dispatcher.answer("tools/call", asked)["content"][0]["text"]
    assert cleared(engine, TOOL, answer, "other").startswith("[was shown ")


def test_why_tells_to_whom_an_atom_was_given(engine: Engine) -> None:
    """The origin of an atom has the client, the session and the time of each receipt."""
    (atom,) = engine.find()
    (shown,) = engine.why(atom.id)[0].shown
    assert (shown.to, shown.session) == ("claude-code", "s")


def test_receipts_can_be_deleted(engine: Engine, folder: Path) -> None:
    """Erasing an atom removes it from the receipts; all receipts can be deleted; none has a text."""
    (atom,) = engine.find()
    (file,) = folder.iterdir()
    assert "uploader" not in file.read_text()
    engine.erase(atom.id, "unwanted")
    assert not [one for one in receipts(engine.store) if one.atoms]
    record(engine.store, "claude-code", "t", HEADING)
    assert forget(engine.store) == 1
    assert not list(folder.iterdir())


def test_no_receipts_are_written_if_they_are_off(
    engine: Engine, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The variable ENGINE_RECEIPTS turns receipts off."""
    forget(engine.store)
    monkeypatch.setenv(VARIABLE, "off")
    given_to(engine, "s", "How often does the uploader try before it gives up?")
    assert not list(folder.iterdir())


def test_the_file_of_receipts_is_bounded(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, folder: Path
) -> None:
    """If there are too many receipts, the older half is dropped; malformed lines are passed over."""
    monkeypatch.setattr("engine.capture.served.BYTES_MAX", 2000)
    (file,) = folder.iterdir()
    file.write_text(
        '[]\n{"at": 1}\n{\n' + json.dumps({"at": "x", "to": 1, "session": "", "atoms": {"a": 1}}) + "\n"
    )
    for number in range(30):
        record(engine.store, "claude-code", f"s{number}", HEADING)
    kept = [one.session for one in receipts(engine.store)]
    assert kept[-1] == "s29"
    assert "s0" not in kept
    assert file.stat().st_size <= 2000
