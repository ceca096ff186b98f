"""The verifier in JavaScript says of every test vector what its file says."""

from __future__ import annotations

from functools import cache

import pytest

from tests.javascript.node import Question, ask, question_of
from tests.vectors.load import Vector, invalid_proofs, read
from tests.vectors.logs import leaf

pytestmark = pytest.mark.slow


def valid_question(vector: Vector) -> Question:
    """Return the question that a valid proof answers."""
    return question_of(bytes.fromhex(vector["proof"]), vector["basis"], vector["claims"])


def test_valid_proofs_show_what_they_show() -> None:
    """Each valid proof is accepted, and shows what the file says, of a log of that size."""
    vectors = read("proofs")["valid"]
    for vector, answer in zip(vectors, ask(map(valid_question, vectors)), strict=True):
        assert answer == {"size": vector["size"], "shown": vector["shown"]}, vector["number"]


def test_invalid_proofs_are_refused() -> None:
    """Each invalid proof is refused for the reason that the file gives."""
    vectors = list(invalid_proofs())
    questions = [question_of(data, vector["basis"], vector["claims"]) for vector, data in vectors]
    for (vector, _), answer in zip(vectors, ask(questions), strict=True):
        assert answer.get("reason") == vector["reason"], (vector["of"], vector["change"], answer)


def test_words_of_valid_proofs_are_their_claims() -> None:
    """The words of a claim are read as its number, subject, state and whether it is opened."""
    claims = [claim for vector in read("proofs")["valid"] for claim in vector["claims"]]
    answers = ask({"ask": "words", "words": claim["words"]} for claim in claims)
    for claim, answer in zip(claims, answers, strict=True):
        expected = {"number": claim["number"], "subject": claim["subject"]}
        expected |= {"state": claim.get("state"), "opened": claim.get("opened", False)}
        assert answer == expected


def test_notes_are_read_and_their_signatures_verified() -> None:
    """Each note gives what the file says: origin, size, root and signatures, or the reason of a refusal."""
    vectors = read("notes")["valid"] + read("notes")["invalid"]
    for vector, answer in zip(vectors, ask(map(note_question, vectors)), strict=True):
        names = ["reason"] if "reason" in vector else ["origin", "size", "root", "signatures"]
        assert {name: answer.get(name) for name in names} == {name: vector[name] for name in names}, vector


def note_question(vector: Vector) -> Question:
    """Return the question what a note says."""
    note = vector["hex"] if "hex" in vector else vector["note"].encode().hex()
    known = [read("notes")["keys"][name]["vkey"] for name in vector["known"]]
    return {"ask": "note", "note": note, "known": known}


def test_verifier_keys_are_read_as_the_file_says() -> None:
    """A valid verifier key is read, and any other text is refused."""
    note = read("notes")["valid"][0]["note"].encode().hex()
    for name, reason in (("vkeys", None), ("invalid vkeys", "input")):
        vectors = read("notes")[name]
        answers = ask({"ask": "note", "note": note, "known": [vector["vkey"]]} for vector in vectors)
        for vector, answer in zip(vectors, answers, strict=True):
            assert answer.get("reason") == reason, vector


def test_trees_have_their_roots() -> None:
    """Trees of keys have the key digests and roots of the file, and so have trees of chosen digests."""
    trees = read("trees")
    of_keys = [
        {"ask": "keys", "namespace": tree["namespace"], "leaves": [leaf[:2] for leaf in tree["leaves"]]}
        for tree in trees["keys"]
    ]
    for tree, answer in zip(trees["keys"], ask(of_keys), strict=True):
        assert answer == {"digests": [digest for _, _, digest in tree["leaves"]], "root": tree["root"]}
    of_digests = [{"ask": "digests", "leaves": tree["leaves"]} for tree in trees["digests"]]
    assert [answer["root"] for answer in ask(of_digests)] == [tree["root"] for tree in trees["digests"]]


@cache
def roots() -> dict[int, str]:
    """Return, by the definition, the root of the log of each size that the file has."""
    log = read("log")
    sizes = {size for size, _ in log["roots"]} | {one["old"] for one in log["consistency"]}
    sizes |= {one["size"] for name in ("inclusion", "consistency") for one in log[name]}
    answers = ask({"ask": "log", "size": size} for size in sorted(sizes))
    return {size: answer["root"] for size, answer in zip(sorted(sizes), answers, strict=True)}


def test_logs_have_their_roots() -> None:
    """The roots of logs are those of the file."""
    expected = dict(read("log")["roots"])
    assert {size: roots()[size] for size in expected} == expected


def path_questions(name: str) -> list[Question]:
    """Return the questions about paths of `inclusion` or `consistency`, in full."""
    return [whole_question(name, vector) for vector in read("log")[name]]


def whole_question(name: str, vector: Vector) -> Question:
    """Return a vector with what follows from the entries of the logs."""
    question: Question = vector | {"ask": name, "root": roots()[vector["size"]]}
    if name == "inclusion":
        return question | {"leaf": leaf(vector["index"]).hex()}
    return question | {"old_root": roots()[vector["old"]]}


@pytest.mark.parametrize(
    ("name", "wrong"), [("inclusion", "not_included"), ("consistency", "not_consistent")]
)
def test_paths_in_logs_are_judged_as_the_file_says(name: str, wrong: str) -> None:
    """Paths in logs are accepted, and what is not such a path is refused for its reason.

    Where the file says `input`, for a size or index that no log has, the reason is that of any wrong path.
    """
    right = path_questions(name)
    assert ask(right) == [{}] * len(right)
    spoilt = [right[vector["of"]] | vector for vector in read("log")[wrong]]
    for vector, answer in zip(read("log")[wrong], ask(map(as_decimals, spoilt)), strict=True):
        assert answer.get("reason") == (name if vector["reason"] == "input" else vector["reason"]), vector


def as_decimals(question: Question) -> Question:
    """Return the question with its sizes as decimal strings, which JavaScript reads without loss."""
    return {name: str(value) if isinstance(value, int) else value for name, value in question.items()}


def test_events_of_the_golden_journal_are_canonical() -> None:
    """Every header, and every payload that was not destroyed, is read; seqs ascend from 0."""
    events = read("journal")["events"]
    answers = ask({"ask": "event", "header": one["header"], "payload": one["payload"]} for one in events)
    assert [answer["header"]["seq"] for answer in answers] == list(range(len(events)))
    assert [answer["body"] is None for answer in answers] == [one["payload"] is None for one in events]
