"""Why a claim is not proved: because something else holds, which is named and could be proved."""

from __future__ import annotations

from dataclasses import replace

from engine.base.errors import NotFoundError, RefusedError
from proofs.claims import AtomIs, EdgeIs, StateClaim
from proofs.leaves import State
from proofs.words import words_of


class NotSo(RefusedError):
    """The claim does not hold; `instead` does, and with `sealed` no payload of it is left to be opened."""

    def __init__(self, problem: str, instead: StateClaim, *, sealed: bool = False) -> None:
        super().__init__(f"the claim does not hold: {problem}", hint=_hint(instead, sealed=sealed))
        self.instead = instead


class NeverRecorded(NotFoundError):
    """The claim is about what was never recorded, which is what `instead` says."""

    def __init__(self, what: str, instead: StateClaim) -> None:
        super().__init__(f"{what} was never recorded", hint=_hint(instead, sealed=True))
        self.instead = instead


def _hint(instead: StateClaim, *, sealed: bool) -> str:
    if not sealed and isinstance(instead, (AtomIs, EdgeIs)) and instead.state is not State.ERASED:
        instead = replace(instead, opened=True)
    return f"what holds is: {' '.join(words_of(instead))}"
