"""Questions to the verifier in JavaScript: many at once, through one Node process."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from proofs.basis import Basis
from proofs.claims import Claim
from tests.reference.both import reference_basis, reference_claim
from tests.vectors.make import basis_of, claim_of

FOLDER: Final = Path(__file__).parent
COMMAND: Final = FOLDER / "verify.mjs"
OLDEST: Final = 20
"""The oldest major version of Node that has all that the verifier uses."""
MINUTES: Final = 30
Question = dict[str, Any]
Answer = dict[str, Any]


@cache
def _version(node: str) -> int:
    found = subprocess.run([node, "--version"], check=True, capture_output=True, text=True).stdout
    return int(found.strip().removeprefix("v").split(".")[0])


def needs_node() -> str:
    """Return the path of Node; skip the test if Node is missing or too old."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("the verifier in JavaScript needs Node, which is not installed")
    if _version(node) < OLDEST:
        pytest.skip(f"the verifier in JavaScript needs Node {OLDEST} or later, not {_version(node)}")
    return node


def ask(questions: Iterable[Question]) -> list[Answer]:
    """Return the answer of `stream.mjs` to each question.

    Raises:
        AssertionError: a question caused an error that is not a refusal.
    """
    node = needs_node()
    lines = "".join(json.dumps(question) + "\n" for question in questions)
    done = subprocess.run(
        [node, str(FOLDER / "stream.mjs")],
        check=True,
        input=lines,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=60 * MINUTES,
    )
    answers: list[Answer] = [json.loads(line) for line in done.stdout.split("\n")[:-1]]
    assert len(answers) == lines.count("\n")
    assert [answer["fault"] for answer in answers if "fault" in answer] == []
    return answers


def proof_question(data: bytes, basis: Basis, claims: Sequence[Claim]) -> Question:
    """Return the question whether `data` proves `claims` for `basis`."""
    plain = [claim_of(reference_claim(claim), said=False) for claim in claims]
    return question_of(data, basis_of(reference_basis(basis)), plain)


def question_of(data: bytes, basis: Question, claims: list[Question]) -> Question:
    """Return the question whether `data` proves claims for a basis that have the form of the vectors."""
    size = basis["size"]
    plain = basis | {"size": None if size is None else str(size)}
    return {"ask": "proof", "proof": data.hex(), "basis": plain, "claims": claims}
