"""Erased content is in no export and stays erased after an import; no other payload may be missing."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.engine import Engine
from engine.exchange.journal_lines import canonical
from tests.exchange.journals import LINES, exported, history, imported, refused
from tests.support import workloads
from tests.support.engines import after
from tests.support.workloads import id_of

pytestmark = pytest.mark.slow


def test_a_payload_that_no_event_destroyed_is_refused() -> None:
    """A missing payload is refused unless a later event on the same subject destroyed it."""
    at = next(at for at, line in enumerate(LINES) if b'"atom_added"' in line)
    for payload in ({"erased": at + 20}, {"erased": 0}, {"erased": 1 << 40}, None, {}, {"erased": None}):
        fields = json.loads(LINES[at]) | {"payload": payload}
        with refused(at + 1):
            imported(b"".join([*LINES[:at], canonical(fields), *LINES[at + 1 :]]))


def erased(count: int = 60, seed: int = 3) -> Engine:
    """Return a store with erased atoms that had edges, revisions and tags, between checkpoints."""
    engine = history(count, seed)
    for number in (0, 3, 1):
        engine.erase(id_of(number), "asked to")
        engine.checkpoint()
    return engine


@given(seed=st.integers(0, 1 << 32), count=st.integers(20, 60))
@settings(max_examples=10, deadline=None)
def test_what_was_erased_stays_so(seed: int, count: int) -> None:
    """After an export and import, payloads stay destroyed, and roots and text are the same."""
    engine = after(workloads.commands(count, seed), 7)
    for number in (0, 1):
        engine.erase(id_of(number), "asked to")
    engine.add("Something after it.")
    text = exported(engine)
    with Engine(imported(text)) as again:
        assert exported(again) == text
        assert again.root() == engine.root()
        assert again.verify().ok


def test_an_erased_text_is_in_no_export() -> None:
    """An erased text is in no export, and in no export of an imported store."""
    engine = erased()
    for number in (0, 1, 3):
        assert workloads.text_of(number).encode() not in exported(engine)
    assert workloads.text_of(2).encode() in exported(engine)


def test_a_destroyed_payload_names_the_event_that_did_it() -> None:
    """A destroyed payload must name the event that destroyed it, otherwise its line is named."""
    lines = exported(erased()).splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if b'"payload":{"erased"' in line)
    fields = json.loads(lines[at])
    by = fields["payload"]["erased"]
    assert json.loads(lines[by + 1])["kind"] == "erased"
    for wrong in (by + 1, by - 1, 0, len(lines)):
        with refused(at + 1, "was not destroyed by"):
            imported(
                b"".join([*lines[:at], canonical(fields | {"payload": {"erased": wrong}}), *lines[at + 1 :]])
            )


def test_a_payload_that_should_be_gone_is_named() -> None:
    """A payload that should have been destroyed is refused, and its line is named."""
    engine = history()
    before = exported(engine).splitlines(keepends=True)
    engine.erase(id_of(0), "asked to")
    lines = exported(engine).splitlines(keepends=True)
    at = next(at for at, line in enumerate(lines) if b'"payload":{"erased"' in line)
    with refused(at + 1, "still stored"):
        imported(b"".join([*lines[:at], before[at], *lines[at + 1 :]]))
