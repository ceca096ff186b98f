"""Whatever a service changes in its answers, the client returns as verified what is recorded, or an error."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from itertools import islice, permutations
from pathlib import Path
from shutil import copy
from typing import Any, Final, NamedTuple

import httpx2
import pytest

from engine import Engine, EngineError, VerificationError
from engine.clients.remote_engine import RemoteEngine
from tests.clients.support import Forward, answered, connected, new_store, operation_of
from tests.service.support import client_of
from tests.support.mutations import Change, changes_of

pytestmark = pytest.mark.slow

LIVE, HIDDEN, ERASED, TAGGED, ABSENT = (
    f"{number}a2e0000-0000-4000-8000-000000000001" for number in range(1, 6)
)
IDS: Final = (LIVE, HIDDEN, ERASED, TAGGED, ABSENT)
SAMPLE: Final = 60
"""How many single changes, and how many pairs, the short test tries."""


class Kept(NamedTuple):
    """A memory, an older state of it, another memory, and the checkpoint that a client has kept."""

    url: str
    older: str
    other: str
    note: str
    trust: Path


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """Return a memory with an atom in each state."""
    folder = tmp_path_factory.mktemp("changed")
    urls = [new_store(folder / name) for name in ("memory.db", "other.db")]
    for url in urls:
        with Engine.open(url) as engine:
            _fill(engine)
    copy(folder / "memory.db", folder / "older.db")
    with Engine.open(urls[0]) as engine:
        note = engine.checkpoint_note().note
        engine.tag(TAGGED, "Upper", "kitchen")
        engine.tombstone(HIDDEN, "no kettle any more")
    trust = folder / "memory.note"
    with connected(urls[0], trust=trust) as remote:
        remote.proved.check()
    return Kept(urls[0], f"sqlite:{folder / 'older.db'}", urls[1], note, trust)


def _fill(engine: Engine) -> None:
    for id, text in ((LIVE, "descaled with vinegar"), (HIDDEN, "red"), (ERASED, "lost")):  # noqa: A001
        engine.add(
            f"The kettle is {text}.", id=id, title="Kettle", tags=["Kitchen"], source="tea.md", meta={"a": 1}
        )
    engine.add("Vinegar stands on the shelf.", id=TAGGED, tags=["Shelf"], aliases=["sour"])
    engine.erase(ERASED, "asked for", probe=False)


def _facts(remote: RemoteEngine, claims: Sequence[Any], **options: Any) -> Any:
    proof = remote.prove(claims, **options)
    return proof.size, proof.shown[: len(claims)]


QUESTIONS: dict[str, Callable[[RemoteEngine, Kept], Any]] = {
    "a live atom": lambda m, _: m.proved.get(LIVE),
    "a hidden atom": lambda m, _: m.proved.get(HIDDEN),
    "an erased atom": lambda m, _: m.proved.get(ERASED),
    "a tagged atom": lambda m, _: m.proved.get(TAGGED),
    "the atoms with a tag": lambda m, _: m.proved.tagged("kitchen"),
    "the atoms with an unused tag": lambda m, _: m.proved.tagged("attic"),
    "the atoms with a word": lambda m, _: m.proved.mentioning("vinegar"),
    "the atoms with an unused word": lambda m, _: m.proved.mentioning("unicorn"),
    "a search": lambda m, _: m.proved.recall("kettle vinegar"),
    "a checkpoint": lambda m, _: m.proved.check(),
    "a claim": lambda m, _: _facts(m, [("atom", LIVE), ("edges-from", LIVE)]),
    "a shortened claim": lambda m, _: _facts(m, [("tags", TAGGED), ("atom", TAGGED[:8])]),
    "a claim about the past": lambda m, _: _facts(m, [("atom", HIDDEN)], as_of=5),
    "a claim about a time": lambda m, _: _facts(m, [("atom", LIVE)], as_of=datetime(2100, 1, 1, tzinfo=UTC)),
    "a claim at a checkpoint": lambda m, kept: _facts(m, [("atom", HIDDEN)], checkpoint=kept.note),
}


class Lies(NamedTuple):
    """A question, and the changes that are made in the answers of operations, one after the other."""

    question: str
    changes: tuple[tuple[str, Change], ...]

    def __str__(self) -> str:
        made = "; ".join(f"{operation}: {change}" for operation, change in self.changes)
        return f"{self.question}: {made}"


class Proxy:
    """Between a client and a service. It keeps the honest answers, and gives changed ones."""

    def __init__(self) -> None:
        self.seen: dict[str, tuple[str, Any]] = {}
        self.changes: tuple[tuple[str, Change], ...] = ()
        self.elsewhere: dict[str, httpx2.Client] = {}
        """Operation → a service that answers it in place of the honest one."""

    def __call__(self, request: httpx2.Request, forward: Forward) -> httpx2.Response:
        """Answer a request."""
        operation = operation_of(request)
        if operation in self.elsewhere:
            found = self.elsewhere[operation].post(request.url.path, json=json.loads(request.content))
            return answered(found.status_code, found.content)
        answer = forward(request)
        if answer.status_code != 200:
            return answer
        value = json.loads(answer.read())
        self.seen.setdefault(f"{operation} {json.dumps(value)}", (operation, value))
        for changed, change in self.changes:
            if changed == operation:
                value = change.made(value)
        return answered(200, json.dumps(value).encode())


def _given(_: Any, value: Any) -> Any:
    return value


class Attack:
    """A client behind a proxy, and the answers to all questions that are recorded."""

    def __init__(self, kept: Kept, remote: RemoteEngine, proxy: Proxy) -> None:
        self.kept, self.remote, self.proxy = kept, remote, proxy
        self.singles: dict[str, list[tuple[str, Change]]] = {}
        self.truths: dict[str, Any] = {}
        with Engine.open(kept.url) as engine:
            self.atoms = {one: engine.get(one) for one in IDS if one != ABSENT}
        # A tag that was added later is spelled as its identity.
        self.atoms[TAGGED] = replace(self.atoms[TAGGED], tags=("kitchen", "Shelf", "upper"))
        for question, ask in QUESTIONS.items():
            proxy.seen = {}
            self.truths[question] = ask(remote, kept)
            self.singles[question] = list(self._changes(list(proxy.seen.values())))

    @staticmethod
    def _changes(honest: list[tuple[str, Any]]) -> Iterator[tuple[str, Change]]:
        for operation, answer in honest:
            yield from ((operation, change) for change in changes_of(answer, IDS))
            for other, value in honest:
                yield operation, Change(f"the answer of {other}", (), partial(_given, value=value))

    def alone(self) -> Iterator[Lies]:
        """Yield each change of each field of each answer."""
        for question, changes in self.singles.items():
            yield from (Lies(question, (change,)) for change in changes)

    def pairs(self) -> Iterator[Lies]:
        """Yield each two kinds of changes, each with each, of which each is made in one field of its name."""
        for question, changes in self.singles.items():
            kinds = {(operation, one.kind, one.path[-1:]): (operation, one) for operation, one in changes}
            yield from (Lies(question, both) for both in permutations(kinds.values(), 2))

    def judged(self, lies: Lies) -> bool:
        """Return whether the client returned anything. Fail if that is not what is recorded."""
        self.proxy.changes = lies.changes
        try:
            told = QUESTIONS[lies.question](self.remote, self.kept)
        except EngineError:
            return False
        finally:
            self.proxy.changes = ()
        assert self._is_recorded(lies.question, told), str(lies)
        return True

    def _is_recorded(self, question: str, told: Any) -> bool:
        """Return whether an answer is recorded. No proof covers the choice of the hits of a search."""
        if question == "a search":
            return all(self.atoms[atom.id] == atom for atom in told)
        return bool(told == self.truths[question])


@pytest.fixture(scope="module")
def attack(kept: Kept) -> Iterator[Attack]:
    """A client that has kept a checkpoint, behind a proxy."""
    proxy = Proxy()
    with connected(kept.url, middle=proxy, trust=kept.trust, retries=0) as remote:
        yield Attack(kept, remote, proxy)


def _tried(attack: Attack, lies: Iterable[Lies]) -> str:
    told = [attack.judged(one) for one in lies]
    return f"{len(told):,} changed answers: {sum(told):,} made no difference, {told.count(False):,} refused"


def test_the_honest_answers_are_those_of_the_memory(attack: Attack) -> None:
    """Without a change, the client returns what the store itself returns."""
    for question, id in (  # noqa: A001
        ("a live atom", LIVE),
        ("a hidden atom", HIDDEN),
        ("an erased atom", ERASED),
        ("a tagged atom", TAGGED),
    ):
        assert attack.truths[question] == attack.atoms[id]
    assert attack.truths["the atoms with a tag"] == (LIVE, TAGGED)
    assert attack.truths["the atoms with a word"] == (LIVE, TAGGED)
    assert attack.truths["the atoms with an unused word"] == ()


def test_a_changed_answer_is_refused_or_makes_no_difference(attack: Attack) -> None:
    """A part of all changes of one field, and of two."""
    chosen = random.Random(34)
    singles, pairs = list(attack.alone()), list(islice(attack.pairs(), 100_000))
    _tried(attack, chosen.sample(singles, SAMPLE) + chosen.sample(pairs, SAMPLE))


@pytest.mark.soak
def test_no_changed_answer_is_returned_as_verified(attack: Attack) -> None:
    """Every change of every field, and every two kinds of changes."""
    for lies in (attack.alone(), attack.pairs()):
        print(_tried(attack, lies))  # noqa: T201  the counts for docs/reliability.md


@pytest.mark.parametrize("place", ["older", "other"])
def test_an_answer_from_elsewhere_is_refused_or_makes_no_difference(attack: Attack, place: str) -> None:
    """Each operation is answered by an older state of the memory, or by another memory with the same ids."""
    with client_of(getattr(attack.kept, place)) as elsewhere:
        for operation in ("prove", "recall", "root", "status", "resolve"):
            attack.proxy.elsewhere = {operation: elsewhere}
            for question in QUESTIONS:
                attack.judged(Lies(question, ()))
        attack.proxy.elsewhere = {}


def test_another_moment_than_the_requested_one_is_refused(attack: Attack) -> None:
    """A valid proof about another moment is refused, whether a seq or a time was requested."""
    sent = attack.remote._prover._call

    def earlier(operation: str, **given: Any) -> Any:
        return sent(operation, **given | ({"as_of": 5} if "as_of" in given else {}))

    attack.remote._prover._call = earlier
    for moment in (6, datetime(2100, 1, 1, tzinfo=UTC)):
        with pytest.raises(VerificationError, match="another moment: after event 5"):
            attack.remote.prove([("atom", LIVE)], as_of=moment)
    attack.remote._prover._call = sent
