"""The verifier in JavaScript, in a browser: what Node says in `tests/javascript`, Chromium says as well."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.javascript.test_vectors import note_question, valid_question
from tests.vectors.load import invalid_proofs, read
from tests.window.browser import ORIGIN, opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from tests.javascript.node import Answer, Question

ASK = """async (lines) => {
  const { answer } = await import("/tests/javascript/questions.mjs");
  const answers = [];
  for (const line of lines) answers.push(await answer(line));
  return answers;
}"""
EACH = 10
"""Every how many-th of the invalid proofs is tried here."""
BYTES_MAX = 100_000
"""The largest proof that is tried here: larger ones take long on their way to the browser."""


def ask(browser: Browser, questions: list[Question]) -> list[Answer]:
    """Return the answers of the verifier in the browser."""
    with opened(browser, f"{ORIGIN}/engine/window/verify.html") as page:
        answers = page.evaluate(ASK, [json.dumps(one) for one in questions])
    return [json.loads(one) for one in answers]


def test_proofs_of_the_vectors_are_judged_as_the_file_says(browser: Browser) -> None:
    """Valid proofs show what the file says, and a tenth of the invalid ones are refused for their reasons."""
    valid = read("proofs")["valid"]
    invalid = [one for one in list(invalid_proofs())[::EACH] if len(one[1]) < BYTES_MAX]
    questions = [valid_question(vector) for vector in valid]
    questions += [valid_question(vector | {"proof": data.hex()}) for vector, data in invalid]
    answers = ask(browser, questions)
    for vector, answer in zip(valid, answers, strict=False):
        assert answer == {"size": vector["size"], "shown": vector["shown"]}, vector["number"]
    for (vector, _), answer in zip(invalid, answers[len(valid) :], strict=True):
        assert answer.get("reason") == vector["reason"], (vector["of"], vector["change"])


def test_signatures_of_the_vectors_are_judged_as_the_file_says(browser: Browser) -> None:
    """The browser's Ed25519 accepts and refuses the same notes as Python's."""
    vectors = read("notes")["valid"] + read("notes")["invalid"]
    answers = ask(browser, [note_question(vector) for vector in vectors])
    for vector, answer in zip(vectors, answers, strict=True):
        names = ["reason"] if "reason" in vector else ["origin", "size", "root", "signatures"]
        assert {name: answer.get(name) for name in names} == {name: vector[name] for name in names}, vector
