"""Services that lie, roll back or fork, and the errors with which a client refuses them."""

from __future__ import annotations

import base64
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest

from engine import Engine, InconsistentError, NotFoundError, VerificationError
from engine.clients.remote_engine import RemoteEngine
from proofs.note import parse_note
from tests.clients.support import (
    Forward,
    Middle,
    answered,
    connected,
    honest,
    lying,
    new_store,
    operation_of,
)
from tests.service.support import client_of

pytestmark = pytest.mark.slow

JSON = "application/json"


class Kept(NamedTuple):
    """A memory, and the file with the checkpoint that a client has kept of it."""

    url: str
    path: Path
    trust: Path
    kettle: str
    shelf: str


@pytest.fixture
def kept(tmp_path: Path) -> Kept:
    """Return a memory with two texts, and the checkpoint of a client that has seen both."""
    path, trust = tmp_path / "memory.db", tmp_path / "memory.note"
    with Engine.open(new_store(path)) as engine:
        kettle = engine.add("The kettle is descaled with vinegar.", tags=["kitchen"], title="Kettle")
        shelf = engine.add("Vinegar stands on the shelf.", tags=["kitchen"])
    shutil.copy(path, tmp_path / "old.db")
    with Engine.open(f"sqlite:{path}") as engine:
        engine.tag(shelf.id, "upper")
    with connected(f"sqlite:{path}", trust=trust) as remote:
        assert remote.proved.check().size == 4
    return Kept(f"sqlite:{path}", path, trust, kettle.id, shelf.id)


def changed(**fields: Any) -> Callable[[Any], Any]:
    """Return the lie that replaces fields of an object."""
    return lambda answer: answer | fields


def asked(kept: Kept, middle: Middle, ask: Callable[[RemoteEngine], Any], url: str | None = None) -> Any:
    """Ask a service, through `middle`, as the client that has kept a checkpoint."""
    with connected(url or kept.url, middle=middle, trust=kept.trust) as remote:
        return ask(remote)


def test_an_honest_service_is_believed(kept: Kept) -> None:
    """Without a lie, the proved answers are those of the memory."""
    with Engine.open(kept.url) as engine:
        assert asked(kept, honest, lambda m: m.proved.get(kept.kettle)) == engine.get(kept.kettle)
        assert asked(kept, honest, lambda m: m.proved.get(kept.shelf)) == engine.get(kept.shelf)
    found = asked(kept, honest, lambda m: m.proved.recall("descale the kettle", limit=1, tags=["kitchen"]))
    assert [atom.content for atom in found] == ["The kettle is descaled with vinegar."]
    assert asked(kept, honest, lambda m: m.proved.tagged("#Kitchen")) == (kept.kettle, kept.shelf)
    assert asked(kept, honest, lambda m: m.proved.mentioning("kettles")) == (kept.kettle,)
    assert asked(kept, honest, lambda m: m.proved.mentioning("unicycle")) == ()
    assert asked(kept, honest, lambda m: m.proved.tagged("unused")) == ()
    with pytest.raises(NotFoundError):
        asked(kept, honest, lambda m: m.proved.get("00000000-0000-8000-8000-000000000001"))


def test_hidden_and_erased_atoms_are_proved_as_they_are(kept: Kept) -> None:
    """A tombstone and an erased content have proofs, too."""
    with Engine.open(kept.url) as engine:
        engine.tombstone(kept.kettle, "no kettle any more")
        assert asked(kept, honest, lambda m: m.proved.get(kept.kettle)) == engine.get(kept.kettle)
        engine.erase(kept.kettle, "asked for", probe=False)
        assert asked(kept, honest, lambda m: m.proved.get(kept.kettle)) == engine.get(kept.kettle)


def test_a_change_between_two_proofs_is_no_lie(kept: Kept) -> None:
    """If an atom changes its state while the client looks for the state, the client asks again."""
    with Engine.open(kept.url) as engine:
        engine.tombstone(kept.kettle)
    changes: list[Callable[[Engine], object]] = [lambda engine: engine.revive(kept.kettle)]

    def changing(request: httpx2.Request, forward: Forward) -> httpx2.Response:
        answer = forward(request)
        if changes and operation_of(request) == "prove":
            with Engine.open(kept.url) as engine:
                changes.pop()(engine)
        return answer

    with connected(kept.url, middle=changing, trust=kept.trust) as remote:
        assert remote.proved.get(kept.kettle).tombstone is None
    assert changes == []


def hidden(request: httpx2.Request, forward: Forward) -> httpx2.Response:
    """Deny every atom."""
    if operation_of(request) == "prove" and b'["atom"' in request.content:
        problem = {"code": "not_found", "detail": "the atom was never recorded", "status": 404}
        return answered(404, json.dumps(problem).encode())
    return forward(request)


def test_a_hidden_atom_is_refused(kept: Kept) -> None:
    """A service that denies an atom cannot prove that it was never recorded."""
    with pytest.raises(VerificationError, match="does not prove that the atom was never recorded"):
        asked(kept, hidden, lambda m: m.proved.get(kept.kettle))


def without(part: bytes) -> Callable[[Any], Any]:
    """Return the lie that takes bytes out of a proof."""

    def lie(answer: Any) -> Any:
        data = base64.b64decode(answer["data"])
        assert part in data
        return answer | {"data": base64.b64encode(data.replace(part, b"")).decode()}

    return lie


def test_a_shortened_list_is_refused(kept: Kept) -> None:
    """A proof from which one atom of a list was taken is no proof."""
    shelf = bytes.fromhex(kept.shelf.replace("-", ""))
    for ask in (lambda m: m.proved.tagged("kitchen"), lambda m: m.proved.mentioning("vinegar")):
        with pytest.raises(VerificationError):
            asked(kept, lying(prove=without(shelf)), ask)


def test_a_list_of_another_memory_is_refused(kept: Kept, tmp_path: Path) -> None:
    """A shorter list with a valid proof is refused if it is a proof of another memory."""
    other = new_store(tmp_path / "other.db")
    with Engine.open(other) as engine:
        for text in ("one", "two", "three"):
            engine.add(text, tags=["kitchen"])
    with pytest.raises(InconsistentError, match="another store"):
        asked(kept, honest, lambda m: m.proved.tagged("kitchen"), other)


def test_another_proof_is_refused(kept: Kept) -> None:
    """A proof of other claims, no proof at all, and a proof that leads nowhere are refused."""
    for lie in (
        changed(data=base64.b64encode(b"none").decode()),
        changed(root="00" * 32),
        changed(root="short"),
        changed(basis="log"),
        changed(size=5),
        changed(size=3),
    ):
        with pytest.raises(VerificationError):
            asked(kept, lying(prove=lie), lambda m: m.prove([("tagged", "kitchen")]))


def rolled_back(kept: Kept) -> str:
    """Return the memory as it was before the last event."""
    return f"sqlite:{kept.path.with_name('old.db')}"


def test_a_rolled_back_log_is_refused(kept: Kept) -> None:
    """If events are missing that the client has seen, every proved answer is an InconsistentError."""
    url = rolled_back(kept)
    for ask in (
        lambda m: m.proved.check(),
        lambda m: m.proved.get(kept.kettle),
        lambda m: m.proved.tagged("kitchen"),
        lambda m: m.prove([("atom", kept.kettle)]),
    ):
        with pytest.raises(InconsistentError, match="rollback: the log has 3 events") as refused:
            asked(kept, honest, ask, url)
        assert refused.value.known == kept.trust.read_text(encoding="ascii")
        assert parse_note(refused.value.found[-1].encode()).checkpoint.size == 3


@pytest.mark.parametrize("events", [1, 3], ids=["as long", "longer"])
def test_a_forked_log_is_refused(kept: Kept, events: int) -> None:
    """A log that has other events than the client has seen is an InconsistentError, however long it is."""
    url = rolled_back(kept)
    with Engine.open(url) as engine:
        for number in range(events):
            engine.add(f"other {number}", tags=["kitchen"])
    problem = "equivocation" if events == 1 else "fork"
    for ask in (lambda m: m.proved.check(), lambda m: m.proved.tagged("kitchen")):
        with pytest.raises(InconsistentError, match=problem):
            asked(kept, honest, ask, url)


def test_a_fork_is_refused_while_the_client_is_connected(kept: Kept) -> None:
    """Without a file, too, the log must continue what the client has seen since it connected."""
    url = rolled_back(kept)
    with Engine.open(url) as engine:
        for number in range(3):
            engine.add(f"other {number}")
    with connected(kept.url) as remote, connected(url) as other:
        remote.proved.check()
        remote._transport = other._transport
        with pytest.raises(InconsistentError):
            remote.proved.check()


def test_the_checkpoint_moves_forward_only(kept: Kept) -> None:
    """Each proof keeps the newer checkpoint in the file; a client with the older one goes on from it."""
    old = kept.trust.read_bytes()
    with Engine.open(kept.url) as engine:
        engine.add("A third text.")
        size = engine.size
    asked(kept, honest, lambda m: m.proved.tagged("kitchen"))
    assert parse_note(kept.trust.read_bytes()).checkpoint.size == size
    kept.trust.write_bytes(old)
    assert asked(kept, honest, lambda m: m.proved.check()).size == size


def test_two_clients_share_the_file(kept: Kept) -> None:
    """What one client has verified, the other must find continued."""
    with connected(kept.url, trust=kept.trust) as one, connected(kept.url, trust=kept.trust) as two:
        one.add("first")
        one.proved.check()
        two.add("second")
        assert two.proved.check().size == 6
        assert one.proved.tagged("kitchen") == (kept.kettle, kept.shelf)


def test_a_file_that_is_no_checkpoint_is_refused(kept: Kept) -> None:
    """A file with other content is neither believed nor overwritten."""
    kept.trust.write_text("no note\n", encoding="ascii")
    with pytest.raises(VerificationError, match="is not a checkpoint note"):
        asked(kept, honest, lambda m: m.proved.check())
    assert kept.trust.read_text(encoding="ascii") == "no note\n"


def test_two_states_of_one_log_are_refused(kept: Kept) -> None:
    """A second overall root for the same events is refused."""
    with connected(kept.url, trust=kept.trust) as remote:
        newest = remote.proved.check()
        with pytest.raises(VerificationError, match="two different overall roots"):
            remote._prover._trusted.accept(newest, bytes(32))


def test_a_proof_about_the_past_is_linked_to_the_log(kept: Kept) -> None:
    """`prove(as_of=…)` also asks that the log continues the log of that moment, and refuses another root."""
    proof = asked(kept, honest, lambda m: m.prove([("atom", kept.kettle)], as_of=1))
    assert (proof.size, len(proof.shown)) == (2, 1)

    def made_up(answer: Any) -> Any:
        return answer | {"root": "00" * 32} if answer["size"] == 2 else answer

    with pytest.raises(VerificationError):
        asked(kept, lying(prove=made_up), lambda m: m.prove([("atom", kept.kettle)], as_of=1))


def test_a_past_that_never_was_is_refused(kept: Kept) -> None:
    """A valid proof about an earlier moment of a fork is refused: the log does not continue that moment."""
    url = rolled_back(kept)
    with Engine.open(url) as engine:
        engine.revise(kept.kettle, "It was always new.")
    with client_of(url) as fork:

        def past(request: httpx2.Request, forward: Forward) -> httpx2.Response:
            if b"as_of" in request.content:
                answer = fork.post(request.url, content=request.content, headers={"content-type": JSON})
                return answered(answer.status_code, answer.content)
            return forward(request)

        with pytest.raises(VerificationError, match="does not prove that its log continues"):
            asked(kept, past, lambda m: m.prove([("atom", kept.kettle)], as_of=3))


def test_a_proof_leads_to_a_checkpoint_of_the_caller(kept: Kept) -> None:
    """`prove(checkpoint=…)` leads to the note that the caller trusts, and to no other."""
    with Engine.open(kept.url) as engine:
        note = engine.checkpoint_note().note
    proof = asked(kept, honest, lambda m: m.prove([("tagged", "kitchen")], checkpoint=note))
    assert len(proof.shown[0].atoms) == 2
    with pytest.raises(VerificationError):
        asked(
            kept,
            lying(prove=lambda answer: answer | {"data": ""}),
            lambda m: m.prove([("tagged", "kitchen")], checkpoint=note),
        )
