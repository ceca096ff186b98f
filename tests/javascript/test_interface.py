"""What `verifier/index.mjs` offers: what is trusted, what is shown, and whether a log continues."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from engine.engine import Engine
from engine.trust.notes.signing import new_key
from tests.javascript.node import Answer, ask
from tests.support.engines import engine_on
from tests.support.workloads import id_of

pytestmark = pytest.mark.slow

FIRST = id_of(1)


class Two(NamedTuple):
    """A store, what it was at two moments, and proofs for the later one."""

    engine: Engine
    old_note: str
    old_root: Answer
    new_note: str
    new_root: Answer

    def proof(self, *claims: str, checkpoint: bool) -> str:
        """Return a proof of claims for the later moment, in hex."""
        note = self.new_note if checkpoint else None
        return self.engine.prove([claim.split() for claim in claims], checkpoint=note).data.hex()


def root_of(engine: Engine) -> Answer:
    """Return the overall root, in the form in which it is trusted."""
    return {"root": engine.root().root, "store": engine.status().store_id}


@pytest.fixture
def two() -> Iterator[Two]:
    """A store after one atom and a checkpoint, and then after a second atom and a second checkpoint."""
    with engine_on() as engine:
        engine.add("The kettle is descaled on Mondays.", id=FIRST, tags=["kitchen"])
        old_root = root_of(engine)
        old_note = engine.checkpoint_note().note
        engine.add("Ms Okafor services the boiler.", id=id_of(2))
        new_note = engine.checkpoint_note().note
        yield Two(engine, old_note, old_root, new_note, root_of(engine))


def asked(kind: str, **question: Any) -> Answer:
    """Return the answer to one question."""
    (found,) = ask([{"ask": kind, **question}])
    return found


def by_note(note: str, *keys: str) -> Answer:
    """Return trust in a checkpoint."""
    return {"note": note, "keys": list(keys)}


def consistent(older: Answer, newer: Answer, proof: str | None) -> Answer:
    """Return whether one log continues another."""
    return asked("consistent", older=older, newer=newer, proof=proof)


def test_facts_are_shown_with_the_claims_in_words(two: Two) -> None:
    """A claim in words, a proof and a root give the fact."""
    claims = [f"atom {FIRST} live", "none-tagged garden"]
    proof = two.proof(*claims, checkpoint=False)
    found = asked("facts", proof=proof, by=two.new_root, claims=claims)
    assert [fact["claim"] for fact in found["facts"]] == claims
    assert [fact["shows"] for fact in found["facts"]] == ["LiveAtom", "TagUnused"]
    assert found["facts"][0]["body"]["content"] == "The kettle is descaled on Mondays."


def test_facts_of_another_root_are_refused(two: Two) -> None:
    """The root that is trusted decides, not what the proof says of itself."""
    proof = two.proof(f"atom {FIRST}", checkpoint=False)
    assert asked("facts", proof=proof, by=two.old_root, claims=[f"atom {FIRST}"])["reason"] == "root"


def test_a_log_continues_a_checkpoint(two: Two) -> None:
    """The proof is of the claim that the verifier names."""
    claim = consistent(by_note(two.old_note), by_note(two.old_note), None)["claim"]
    proof = two.proof(claim, checkpoint=True)
    found = consistent(by_note(two.old_note), by_note(two.new_note), proof)
    sizes = [int(note.splitlines()[1]) for note in (two.old_note, two.new_note)]
    assert [found["size"], found["into"]] == sizes


def test_a_log_continues_an_overall_root(two: Two) -> None:
    """An older root that was trusted without its size is enough."""
    claim = f"prefix-root {two.old_root['root']}"
    proof = two.proof(claim, checkpoint=True)
    assert consistent(two.old_root, by_note(two.new_note), proof)["claim"] == claim


def test_a_log_that_is_rolled_back_is_refused(two: Two) -> None:
    """Whatever the proof."""
    assert consistent(by_note(two.new_note), by_note(two.old_note), None)["reason"] == "rollback"


def test_a_log_that_is_forked_is_refused(two: Two) -> None:
    """One size with two roots needs no proof; of another size, the proof cannot be made."""
    origin, size, _ = two.old_note.splitlines()
    forged = f"{origin}\n{size}\n{'A' * 43}=\n"
    assert consistent(by_note(two.old_note), by_note(forged), None)["reason"] == "fork"
    claim = consistent(by_note(two.old_note), by_note(two.old_note), None)["claim"]
    proof = two.proof(claim, checkpoint=True)
    assert consistent(by_note(forged), by_note(two.new_note), proof)["reason"] == "consistency"


def test_logs_of_two_stores_are_refused(two: Two) -> None:
    """A checkpoint of another store is not compared."""
    origin, *rest = two.new_note.splitlines(keepends=True)
    other = "".join([origin[:-2] + "0\n" if origin[-2] != "0" else origin[:-2] + "1\n", *rest])
    assert consistent(by_note(two.old_note), by_note(other), None)["reason"] == "origin"


def test_a_signature_is_checked_by_the_keys_that_are_given(two: Two, tmp_path: Path) -> None:
    """Without the key, the line says that it was not checked; a key that must sign and did not is missed."""
    name = two.new_note.split("\n", 1)[0]
    ours, other = (new_key(tmp_path / one, name, None) for one in ("ours.key", "other.key"))
    note = two.engine.checkpoint_note(key=tmp_path / "ours.key").note
    (line,) = asked("trust", by=by_note(note, ours.vkey))["signatures"]
    assert (line["known"], line["unchecked"]) == (True, None)
    (line,) = asked("trust", by=by_note(note))["signatures"]
    assert (line["known"], line["unchecked"]) == (False, "no key for it is known")
    assert asked("trust", by=by_note(note, other.vkey))["reason"] == "signature"
    assert asked("trust", by=by_note(two.new_note, ours.vkey))["reason"] == "signature"


def test_the_tag_of_a_claim_is_folded_wherever_it_stands() -> None:
    """A state or a range may follow the tag; words of other claims stay as they are."""
    claims = {
        f"tag {id_of(1)} #Straße": f"tag {id_of(1)} strasse",
        f"no-tag {id_of(1)} Kitchen tombstoned": f"no-tag {id_of(1)} kitchen tombstoned",
        "tagged Kitchen 0-255": "tagged kitchen 0-255",
        "none-tagged #Kitchen": "none-tagged kitchen",
        f"in {id_of(1)} source Notes.md": f"in {id_of(1)} source Notes.md",
        "term Kitchen": "term Kitchen",
    }
    assert asked("folded", claims=list(claims))["claims"] == list(claims.values())


def test_claims_are_split_at_white_space_alone() -> None:
    """A quote is a character of a tag, as the grammar of claims says."""
    root = {"root": "00" * 32, "store": id_of(9)}
    found = asked("facts", proof="00", by=root, claims=["tagged o'brien"])
    assert found["reason"] == "form"
    assert asked("facts", proof="00", by=root, claims=["tagged new york"])["reason"] == "input"
