"""Commands that the reference does not know, carried out on the machine's engine and on a twin in memory.

From the first such command of a history on, the twin stands in for the reference. The twin is a memory store
with the same rows, clock and salts. Stores in memory are compared with the reference in other histories.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule

from engine.base.errors import EngineError
from engine.base.model import State
from engine.base.validation import show_id
from engine.commands import Add
from engine.commands.conflicts import CHOICES, KeepBoth, Settle
from engine.commands.continuing import Relocate
from engine.commands.edits import TakeEdit
from engine.engine import Engine
from tests.model.pairs import Pairs
from tests.model.strategies import ATOMS

TEXTS: Final = st.sampled_from(["Anna Berg works at Orbit Labs.", "The sea.", "the ship sails", "Atom 1"])
FURTHER: Final = ("erase", "dream", "settle", "keep_both", "take_edit", "relocate")
Step = tuple[str, tuple[int, int], str, str]
"""A command, two atoms, a text, and the text to keep when a conflict is settled."""
STEP: Final = st.tuples(st.sampled_from(FURTHER), st.tuples(ATOMS, ATOMS), TEXTS, st.sampled_from(CHOICES))


class Further(Pairs, RuleBasedStateMachine):
    """Rules for commands beyond the reference, and what holds after them."""

    engine: Engine
    twin: Engine | None = None
    """The store that stands in for the reference, or None as long as the reference does."""
    may_go_beyond = True
    """Whether histories may have commands that the reference does not know."""
    goes_beyond = False
    """Whether this history may have such commands."""

    def __init__(self) -> None:
        super().__init__()
        self.erased: set[str] = set()

    def begin_twin(self) -> None:
        """Make the twin from the engine's rows."""
        raise NotImplementedError

    def on_both(self, call: Callable[[Engine], Any], twin: Engine) -> Any:
        """Carry out a call on the engine and on the twin, and return what both return, or their refusal."""
        told: list[Any] = []
        for engine in (self.engine, twin):
            try:
                told.append(call(engine))
            except EngineError as error:
                told.append((type(error), str(error)))
        assert told[0] == told[1]
        return told[0]

    @precondition(lambda self: self.goes_beyond)
    @rule(steps=st.lists(STEP, min_size=1, max_size=4))
    def further(self, steps: list[Step]) -> None:
        """Run commands beyond the reference, each of them twice; the second run appends nothing."""
        if self.twin is None:
            self.begin_twin()
        twin = self.twin
        assert twin is not None
        for name, ends, text, keep in steps:
            first, second = (show_id(self.atom(number)) for number in ends)
            call = getattr(self, f"_{name}")(first, second, text, keep)
            done = self.on_both(call, twin)
            size = self.engine.size
            self.on_both(call, twin)
            assert self.engine.size == size
            if name == "erase" and not isinstance(done, tuple):
                self.erased.add(first)

    def _erase(self, first: str, *_: str) -> Callable[[Engine], object]:
        return lambda engine: engine.erase(first, "asked for", probe=False) and None

    def _dream(self, *_: str) -> Callable[[Engine], object]:
        return lambda engine: engine.dream() and None

    def _settle(self, first: str, second: str, _: str, keep: str) -> Callable[[Engine], object]:
        open_ones = self.engine.conflicts()
        file, hand = (open_ones[0].file.id, open_ones[0].hand.id) if open_ones else (first, second)
        return lambda engine: engine.apply([Settle(file, hand, keep)])

    def _keep_both(self, first: str, _: str, text: str, __: str) -> Callable[[Engine], object]:
        wanted = Add(text, source="a.md", sequence=3)
        return lambda engine: engine.apply([KeepBoth(wanted, bytes.fromhex(first.replace("-", "")))])

    def _take_edit(self, first: str, _: str, text: str, keep: str) -> Callable[[Engine], object]:
        try:
            before = self.engine.get(first).content if keep == "file" else "something else"
        except EngineError:
            before = ""
        edit = TakeEdit(first, before, text, self.engine.size)
        return lambda engine: engine.apply([edit])

    def _relocate(self, first: str, _: str, text: str, __: str) -> Callable[[Engine], object]:
        wanted = Add(text, source="moved/b.md", sequence=7, folder="moved")
        return lambda engine: engine.apply([Relocate(bytes.fromhex(first.replace("-", "")), wanted)])

    @invariant()
    def what_is_erased_stays_erased(self) -> None:
        """No later command brings an erased atom or its content back."""
        for one in self.erased:
            atom = self.engine.get(one)
            assert (atom.state, atom.content) == (State.ERASED, "")
