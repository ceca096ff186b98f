"""A stateful test of several memories in one file: erasing, dreaming, merging and superseding among them.

The model is a dict for each memory: the id of an atom, its content, and whether it is live, hidden or erased.
It says nothing about roots; those are compared with a replay of the journal.
"""

from __future__ import annotations

import io
import itertools
from pathlib import Path
from typing import Final

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from backends.memory import MemoryBackend
from engine.base.errors import EngineError
from engine.base.validation import show_id
from engine.engine import Engine
from engine.exchange.journal_import import JournalReader, read_into
from engine.ledger.layout import DREAM
from engine.memory.named_memories import create, rename
from proofs.leaves import State
from tests.support.engines import BEGIN, backend_of, fresh_rows, rows_of, salt_of

NAMES: Final = ("work", "home")
WORDS: Final = ("Anna Berg works at Orbit Labs.", "The sea.", "The kettle is descaled on Mondays.")
WHICH = st.sampled_from(NAMES)
ATOMS = st.integers(0, 5)


class SeveralMachine(RuleBasedStateMachine):
    """Two memories in one SQLite file, each with its model."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.url = f"sqlite:{folder / 'memories'}"
        self.now = BEGIN
        self.numbers = itertools.count()
        self.names = {name: name for name in NAMES}
        """Memory → its present name; renaming changes it."""
        for name in NAMES:
            create(self.url, name)
        self.engines = {name: self.open(name) for name in NAMES}
        self.models: dict[str, dict[str, tuple[str | None, State]]] = {name: {} for name in NAMES}
        self.roots = {name: engine.root().root for name, engine in self.engines.items()}

    def open(self, which: str) -> Engine:
        """Open a memory under its present name."""
        return Engine.open(self.url, memory=self.names[which], clock=lambda: self.now, salts=salt_of)

    def atom(self, which: str, number: int) -> str:
        """Return the id of one of the recorded atoms, or of none."""
        known = list(self.models[which])
        return known[number % len(known)] if known else show_id(bytes([99] * 16))

    def live(self, which: str, *atoms: str) -> bool:
        """Return True if all of the atoms are live."""
        return all(self.models[which].get(atom, (None, None))[1] is State.LIVE for atom in atoms)

    @rule(which=WHICH, words=st.sampled_from(WORDS))
    def add(self, which: str, words: str) -> None:
        """Add a text that was never there."""
        content = f"{words} {next(self.numbers)}"
        made = self.engines[which].add(content)
        self.models[which][made.subject] = content, State.LIVE
        self.changed(which)

    @rule(which=WHICH, number=ATOMS)
    def revise(self, which: str, number: int) -> None:
        """Give a live atom another content; a hidden or erased atom is refused."""
        atom, content = self.atom(which, number), f"revised {next(self.numbers)}"
        if self.live(which, atom):
            self.engines[which].revise(atom, content)
            self.models[which][atom] = content, State.LIVE
            self.changed(which)
        else:
            with pytest.raises(EngineError):
                self.engines[which].revise(atom, content)

    @rule(which=WHICH, number=ATOMS, hide=st.booleans())
    def hide_or_revive(self, which: str, number: int, hide: bool) -> None:
        """Hide or revive an atom; an erased atom is neither."""
        atom = self.atom(which, number)
        content, state = self.models[which].get(atom, (None, State.ERASED))
        call = self.engines[which].tombstone if hide else self.engines[which].revive
        if state is State.ERASED:
            with pytest.raises(EngineError):
                call(atom, "for a reason")
            return
        call(atom, "for a reason")
        self.models[which][atom] = content, State.TOMBSTONED if hide else State.LIVE
        self.changed(which)

    @rule(which=WHICH, number=ATOMS)
    def erase(self, which: str, number: int) -> None:
        """Erase an atom: its content is in no row any more, and is refused when it is added again."""
        atom = self.atom(which, number)
        if atom not in self.models[which]:
            return
        content, _ = self.models[which][atom]
        self.engines[which].erase(atom, "asked for", probe=False)
        self.models[which][atom] = None, State.ERASED
        self.changed(which)
        if content is not None:
            rows = rows_of(backend_of(self.engines[which]), "payload")
            assert not any(content.encode() in value for value in rows.values())
            with pytest.raises(EngineError):
                self.engines[which].add(content)

    @rule(which=WHICH, first=ATOMS, second=ATOMS, merge=st.booleans())
    def merge_or_supersede(self, which: str, first: int, second: int, merge: bool) -> None:
        """Merge hides the other atom; superseding hides none. Both refuse atoms that are not live."""
        keep, other = self.atom(which, first), self.atom(which, second)
        engine = self.engines[which]
        try:
            engine.merge(keep, other, force=True) if merge else engine.supersede(other, keep)
        except EngineError:
            return
        content, state = self.models[which][other]
        self.models[which][other] = content, State.TOMBSTONED if merge else state
        self.changed(which)

    @rule(which=WHICH)
    def dream(self, which: str) -> None:
        """Dreaming changes no content; a second run adds nothing."""
        engine = self.engines[which]
        known = set(self.models[which])
        engine.dream()
        for atom in engine.find(limit=1000, superseded=True):
            if atom.id not in known:
                self.models[which][atom.id] = engine.get(atom.id).content, State.LIVE
        self.changed(which)
        size = engine.size
        engine.dream()
        assert engine.size == size

    @rule(which=WHICH, what=st.sampled_from(["checkpoint", "rebuild", "reopen", "rename", "export"]))
    def upkeep(self, which: str, what: str) -> None:
        """Take a checkpoint, rebuild, reopen, rename or export; only the first changes the root."""
        engine = self.engines[which]
        match what:
            case "checkpoint":
                engine.checkpoint()
                self.changed(which)
            case "rebuild":
                assert engine.rebuild().root == self.roots[which]
            case "reopen" | "rename":
                engine.close()
                if what == "rename":
                    new = f"name-{next(self.numbers)}"
                    rename(self.url, self.names[which], new)
                    self.names[which] = new
                self.engines[which] = self.open(which)
            case "export":
                lines = bytearray()
                engine.export(lines.extend)
                target = MemoryBackend()
                roots = read_into(target, JournalReader(io.BytesIO(bytes(lines)), "it"))
                assert roots.overall.hex() == self.roots[which]

    def changed(self, which: str) -> None:
        """Note the root of a memory after a change."""
        self.roots[which] = self.engines[which].root().root

    @invariant()
    def every_atom_is_as_in_the_model(self) -> None:
        """Both memories have exactly their atoms, and a change of one leaves the other as it was."""
        for which, engine in self.engines.items():
            assert engine.root().root == self.roots[which]
            for atom, (content, state) in self.models[which].items():
                found = engine.get(atom)
                assert (found.state, found.content if state is not State.ERASED else None) == (state, content)
            live = {atom for atom, (_, state) in self.models[which].items() if state is State.LIVE}
            assert {atom.id for atom in engine.find(limit=1000, superseded=True)} == live

    def teardown(self) -> None:
        """Both memories verify, and have the rows of a replay."""
        for engine in self.engines.values():
            backend = backend_of(engine)
            assert engine.verify().ok
            engine.catch_up()
            rows = {key: value for key, value in backend.scan() if key != DREAM}
            assert rows == fresh_rows(backend)
            engine.close()
