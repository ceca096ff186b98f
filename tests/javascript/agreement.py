"""The verdicts of both verifiers, that of `proofs` and that in JavaScript, on the same questions."""

from __future__ import annotations

from collections.abc import Iterable
from json import dumps
from typing import Any, NamedTuple

from proofs.errors import ProofError
from proofs.verifier import examine
from tests.javascript.node import Answer, ask, proof_question
from tests.soundness.wire import Asked
from tests.vectors.shown import shown


class Verdicts(NamedTuple):
    """What both verifiers say: {"size", "shown"}, or {"reason"} of a refusal."""

    asked: Asked
    python: Answer
    javascript: Answer

    @property
    def accepted(self) -> bool:
        """Return whether Python accepts the proof."""
        return "reason" not in self.python

    @property
    def agree(self) -> bool:
        """Return whether both refuse the proof, or both accept it and show the same."""
        if self.accepted:
            # As text, so that true is not 1 and 1.0 is not 1.
            return dumps(self.python, sort_keys=True) == dumps(self.javascript, sort_keys=True)
        return "reason" in self.javascript

    @property
    def reasons(self) -> tuple[Any, Any]:
        """The two reasons of a refusal."""
        return self.python.get("reason"), self.javascript.get("reason")


def by_python(asked: Asked) -> Answer:
    """Return what `proofs` says."""
    try:
        facts, size = examine(*asked)
    except ProofError as error:
        return {"reason": error.reason}
    return {"size": size, "shown": [shown(fact) for fact in facts]}


def verdicts(questions: Iterable[Asked]) -> list[Verdicts]:
    """Return what both verifiers say of each question."""
    asked = list(questions)
    answers = ask(proof_question(*one) for one in asked)
    return [Verdicts(one, by_python(one), answer) for one, answer in zip(asked, answers, strict=True)]
