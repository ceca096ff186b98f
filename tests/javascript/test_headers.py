"""The verifier in JavaScript accepts and refuses the headers and bodies of the vectors."""

from __future__ import annotations

from typing import Any

import pytest

from proofs.hashing import SALT_BYTES, commitment
from tests.javascript.node import Question, ask
from tests.spec.spec_naive import dumps
from tests.vectors.headers import ALWAYS_REPEATED, DETAILS, ORIGIN
from tests.vectors.load import read
from tests.vectors.test_headers import body_of

pytestmark = pytest.mark.slow


def with_header(one: dict[str, Any]) -> Question:
    """Return the question about a body in the payload of an event of its kind."""
    payload = bytes(SALT_BYTES) + body_of(one)
    bound = commitment(bytes(SALT_BYTES), body_of(one))
    last = [ORIGIN] if one["kind"] in ALWAYS_REPEATED else []
    header = dumps([3, 9, 1, one["kind"], "user", bound, None, *DETAILS[one["kind"]], *last])
    return {"ask": "event", "header": header.hex(), "payload": payload.hex()}


def test_headers_are_accepted_or_refused_as_the_vectors_say() -> None:
    """Each valid header is read, and each invalid one is refused."""
    vectors = read("headers")
    for valid in (True, False):
        some = vectors["valid headers" if valid else "invalid headers"]
        answers = ask({"ask": "event", "header": one["header"], "payload": None} for one in some)
        wrong = [one["name"] for one, said in zip(some, answers, strict=True) if ("header" in said) != valid]
        assert wrong == []


def test_bodies_are_accepted_or_refused_as_the_vectors_say() -> None:
    """Each valid body is read, and each invalid one is refused."""
    vectors = read("headers")
    for valid in (True, False):
        some = vectors["valid bodies" if valid else "invalid bodies"]
        answers = ask(map(with_header, some))
        wrong = [one["name"] for one, said in zip(some, answers, strict=True) if ("body" in said) != valid]
        assert wrong == []
