"""The tool `status`, called with the SDK's client."""

from __future__ import annotations

from base64 import b64decode
from uuid import UUID

from engine.text.token_estimate import estimate_tokens
from proofs import Root, verify
from proofs.envelope import decode
from tests.mcp.support import Memory


def test_status_counts(memory: Memory, kettle: str) -> None:
    """The numbers of atoms and events, the store id and the root are those of the engine."""
    found, status, root = memory.found("status"), memory.engine.status(), memory.engine.root()
    assert (found["live_atoms"], found["events"], found["store"]) == (3, status.events, status.store_id)
    assert (found["seq"], found["root"]) == (root.size - 1, root.root)


def test_status_of_an_earlier_moment(memory: Memory, kettle: str) -> None:
    """With `as_of`, the counts and the root are those of that moment."""
    then = memory.engine.root()
    memory.found("forget", id=kettle, reason="it broke")
    found = memory.found("status", filter=f"as_of:{then.size - 1}")
    assert (found["live_atoms"], found["root"]) == (3, then.root)


def test_a_proof_is_handed_out_that_a_stranger_can_check(memory: Memory, kettle: str) -> None:
    """The base64 is an envelope, whose proof is valid for the root and store id in the same answer."""
    answer = memory.found("status", claims=["no-term unicorn", f"atom {kettle[:8]}"])
    basis = answer["basis"]
    assert basis["root"] == memory.engine.root().root
    root = Root(UUID(basis["store"]).bytes, bytes.fromhex(basis["root"]))
    claims = [line["claim"] for line in answer["shown"]]
    assert claims[0] == "no-term unicorn"
    made = memory.engine.prove([claim.split() for claim in claims])
    envelope = decode(b64decode(answer["proof"]))
    assert verify(envelope.proof, root, made.claims) == made.shown
    assert (envelope.basis, envelope.claims) == (root, made.claims)


def test_a_large_proof_is_not_handed_out(memory: Memory) -> None:
    """For a large proof, the answer states its size and what it shows."""
    atom = memory.found("remember", content="many words " * 3000)["id"]
    refused = memory.call("status", claims=[f"atom {atom}"])
    assert refused.error["code"] == "refused"
    answer = memory.call("status", claims=[f"atom {atom} sealed"])
    assert answer.fields["shown"][0]["claim"].endswith("sealed")
    small = memory.found("status", claims=[f"atom {atom} sealed"], budget=estimate_tokens(answer.text) - 50)
    assert small["proof"] is None
    assert small["bytes"] == answer.fields["bytes"]


def test_a_claim_that_does_not_hold_is_refused_with_what_does(memory: Memory, kettle: str) -> None:
    """The hint names a claim that holds instead."""
    error = memory.call("status", claims=[f"atom {kettle} tombstoned"]).error
    assert error["code"] == "refused"
    assert "live" in error["hint"]
