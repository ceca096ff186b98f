"""Whatever a service changes in its answers, what the window shows under a mark is what is recorded."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import combinations
from pathlib import Path
from shutil import copy
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import pytest
from starlette.testclient import TestClient

from engine.engine import Engine
from tests.service.support import client_of
from tests.support.mutations import CANARY, Change, changes_of
from tests.window.service import UNCHANGED, Service, Window, window

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.slow

IDS: Final = tuple(f"{number}a2e0000-0000-4000-8000-000000000001" for number in range(1, 7))
KETTLE, PLAN, BOILER, HIDDEN, TIP, ABSENT = IDS
MOMENT: Final = 7
SAMPLE: Final = 30
"""How many single changes, and how many pairs, the short test tries."""

PLACES: Final = {
    "hits": "q=kettle+vinegar",
    "context": "q=kettle+vinegar&form=context",
    "nothing": "q=unicorn",
    "a tag": "tag=kitchen",
    "a source": "source=kettle.md",
    "a filter without a claim": "tag=kitchen&since=2001-01-01",
    "an atom": f"q=unicorn&atom={PLAN}",
    "an atom in a page": f"q=unicorn&atom={TIP}",
    "a hidden atom": f"q=unicorn&atom={HIDDEN}",
    "a shortened id": f"q=unicorn&atom={BOILER[:8]}",
    "the start": "",
    "a graph": "q=kettle+vinegar&form=graph",
    "a neighbourhood": f"form=graph&around={PLAN}",
    "time": "view=time",
    "an earlier moment": f"at={MOMENT}&q=kettle+vinegar",
    "an earlier atom": f"q=unicorn&at={MOMENT}&atom={PLAN}",
    "a page": "q=unicorn&page=kettle.md",
    "upkeep": "view=upkeep",
}
READ: Final = {
    "an atom": PLAN,
    "an atom in a page": TIP,
    "a hidden atom": HIDDEN,
    "a shortened id": BOILER,
    "an earlier atom": PLAN,
}
"""The places that show an atom, and which."""

SEEN: Final = """() => {
  const whole = document.getElementById("panes");
  const rest = whole.cloneNode(true);
  const others = ".proved, .said, .failed, .altered";
  for (const one of rest.querySelectorAll(`[hidden], .card.empty, ${others}`)) one.remove();
  const leaves = (block) => {
    const own = block.cloneNode(true);
    for (const one of own.querySelectorAll(`.unseen, svg, ${others}`)) one.remove();
    const parts = own.querySelectorAll("a, p, dd, li, bdi, h2, h3, strong, time, .content");
    return [own, ...parts].map((one) => one.textContent).map((text) => text.replaceAll(/\\s+/g, " ").trim());
  };
  return {
    proved: [...whole.querySelectorAll(".proved")].filter((one) => one.closest("[hidden]") === null)
      .map((one) => [one.dataset.about, leaves(one)]),
    rest: rest.textContent,
    marks: [...whole.querySelectorAll(".mark.verified")].map((one) => one.textContent),
    trusted: document.querySelector("#trust-button .refused") === null,
  };
}"""
SETTLED: Final = """() => document.querySelectorAll('#panes > [aria-busy="true"]').length === 0
  && ![...document.querySelectorAll('.mark')].some((one) => one.textContent.startsWith('Checking…'))"""


class Lies(NamedTuple):
    """A place, and the changes that are made in the answers of operations, one after the other."""

    place: str
    changes: tuple[tuple[str, Change], ...]

    def __str__(self) -> str:
        made = "; ".join(f"{operation}: {change}" for operation, change in self.changes)
        return f"{self.place}: {made}"


class Recorded:
    """What is recorded, read from the store itself."""

    def __init__(self, url: str) -> None:
        self.atoms: dict[str, set[str]] = {ABSENT: {ABSENT, "never recorded"}}
        self.texts: dict[str, str] = {ABSENT: ""}
        with Engine.open(url) as engine:
            for id in IDS[:-1]:  # noqa: A001
                self._add(id, [engine.get(id), *([engine.get(id, as_of=MOMENT)] if id != TIP else [])])
            self.kitchen = {one.id for one in engine.find(tags=["kitchen"])}
            self.edges = {
                id: {(edge.src, edge.dst) for edge in engine.edges(id, direction="both")}
                for id in IDS[:-1]  # noqa: A001
            }

    def _add(self, id: str, states: list[Any]) -> None:  # noqa: A002
        self.atoms[id] = {id}
        self.texts[id] = " ".join(" ".join(f"{one.title or ''} {one.content}".split()) for one in states)
        for one in states:
            self.atoms[id] |= {one.title or "", one.source or "", one.state.name.lower(), *one.tags}
            self.atoms[id] |= {tag.lower() for tag in one.tags}
            self.atoms[id] |= {one.kind, one.provenance, str(one.version), str(one.sequence)}

    def is_of(self, id: str, leaf: str) -> bool:  # noqa: A002
        """Return whether a text is a piece of an atom, or one of its fields."""
        piece = leaf.removeprefix("…").removesuffix("…").strip().removeprefix("#")
        return piece in self.texts[id] or piece in self.atoms[id]


WORDS: Final = frozenset(
    (
        *("In quarantine: do not rely on it", "External: from outside", "Tombstoned: searches leave it out"),
        *(
            "tombstoned",
            "not given",
            "none",
            "Atom",
            "by user",
            "user",
        ),
    )
)
"""What the window itself says in a block about an atom."""
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")


class Attack:
    """The window behind a lying service, and what it shows where the service is honest."""

    def __init__(self, opened: Window, recorded: Recorded, places: dict[str, TestClient]) -> None:
        self.opened, self.recorded, self.places = opened, recorded, places
        self.faults: list[str] = []
        self.visits = 0
        opened.page.on("pageerror", lambda error: self.faults.append(str(error)))
        self.table: dict[str, set[str]] = {}
        self.singles: dict[str, list[tuple[str, Change]]] = {}
        for place in PLACES:
            answers: dict[str, tuple[str, Any]] = {}

            def noted(operation: str, given: Any, answer: Any, answers: Any = answers) -> Any:
                asked = operation if operation == "prove" else json.dumps([operation, given])
                answers.setdefault(asked, (operation, answer))
                return answer

            opened.service.lie = noted
            seen = self.seen(place)
            for about, leaves in seen["proved"]:
                self.table.setdefault(about, set()).add(leaves[0])
            self.judge(place, seen)
            self.singles[place] = list(self._changes(list(answers.values())))

    def _changes(self, honest: list[tuple[str, Any]]) -> Iterator[tuple[str, Change]]:
        for operation, answer in honest:
            yield from ((operation, change) for change in changes_of(answer, IDS))
            for where in self.places:
                yield operation, Change(where, (), partial(_elsewhere, where=where))
            for other, value in honest:
                if other != operation:
                    yield operation, Change("other kind", (), partial(_given, value=value))

    def alone(self) -> Iterator[Lies]:
        """Yield each change of each field of each answer, place after place."""
        for place, changes in self.singles.items():
            yield from (Lies(place, (change,)) for change in changes)

    def pairs(self) -> Iterator[Lies]:
        """Yield each two kinds of changes of the answers other than proofs."""
        for place, changes in self.singles.items():
            told = [(operation, one) for operation, one in changes if operation != "prove"]
            kinds = {(operation, one.kind): (operation, one) for operation, one in told}
            yield from (Lies(place, both) for both in combinations(kinds.values(), 2))

    def seen(self, place: str) -> Any:
        """Go to a place from elsewhere, and return what it shows."""
        self.visits += 1
        address = PLACES[place]
        if place in READ:
            self.opened.go(address.partition("&atom=")[0])
        else:
            # The window asks for nothing again in a place that is not another one.
            address += f"&erase={self.visits}"
        self.opened.go(address)
        self.opened.page.wait_for_function(SETTLED)
        return self.opened.page.evaluate(SEEN)

    def tried(self, lies: Lies) -> bool:
        """Return whether anything stands under a mark. Fail if it is not what is recorded."""
        self.opened.service.lie = partial(self._told, lies.changes)
        try:
            seen = self.seen(lies.place)
            self.judge(lies.place, seen)
        except Exception as error:
            raise AssertionError(f"{lies}: {error}") from error
        finally:
            self.opened.service.lie = lambda *given: given[2]
        assert self.faults == [], str(lies)
        if not seen["trusted"]:
            self.opened.visit("q=boiler")
        return bool(seen["marks"])

    def _told(self, changes: Iterable[tuple[str, Change]], operation: str, given: Any, answer: Any) -> Any:
        for changed, change in changes:
            if changed == operation and change.kind in self.places:
                found = self.places[change.kind].post(f"/v1/memories/~/{operation}", json=given)
                lines = found.headers["content-type"].startswith("application/x-ndjson")
                answer = [json.loads(line) for line in found.text.splitlines()] if lines else found.json()
            elif changed == operation:
                answer = change.made(answer)
        return answer

    def judge(self, place: str, seen: Any) -> None:
        """Fail if something that is not said to be of the service is not recorded."""
        assert CANARY not in seen["rest"], seen["rest"]
        for about, leaves in seen["proved"]:
            kind, _, subject = about.partition(" ")
            if kind in {"hit", "atom", "recent", "neighbour", "node", "passage", "piece"}:
                self._judge_atom(about, subject.split(), leaves)
            elif kind == "no-term":
                assert subject not in " ".join(self.recorded.texts.values()).lower()
            else:
                assert leaves[0] in self._texts(kind, about), (about, leaves[0])
        self._judge_lists(place, {about for about, _ in seen["proved"]})

    def _texts(self, kind: str, about: str) -> set[str]:
        """Return what may stand in a block; the code of an edge's type may stand for its name."""
        texts = self.table[about]
        code = about.split()[2] if kind == "edge" else ""
        return texts | {one.replace("mentions", code, 1) for one in texts}

    def _judge_atom(self, about: str, ids: list[str], leaves: list[str]) -> None:
        """Each piece of a block about atoms must be of one of them."""
        if leaves[0] in self.table.get(about, ()):
            return
        for leaf in leaves[1:]:
            assert (
                leaf in WORDS
                or _TIME.search(leaf)
                or any(self.recorded.is_of(id, leaf) for id in ids if id in self.recorded.atoms)  # noqa: A001
            ), (about, leaf)

    def _judge_lists(self, place: str, abouts: set[str]) -> None:
        """What is said to be complete must be, and the opened atom must be the one that was asked for."""
        opened = {about for about in abouts if about.startswith("edges ")}
        if place in READ:
            assert opened <= {f"edges {READ[place]}"}
        for about in opened if place != "an earlier atom" else ():
            ends = {tuple(one.split()[1::2]) for one in abouts if one.startswith("edge ")}
            assert ends == self.recorded.edges[about.removeprefix("edges ")]
        if "all tags kitchen" in abouts:
            assert {
                one.removeprefix("atom ") for one in abouts if one.startswith("atom ")
            } == self.recorded.kitchen


def _given(_: Any, value: Any) -> Any:
    return value


def _elsewhere(_: Any, where: str) -> Any:
    raise ValueError(where)


def _fill(engine: Engine) -> None:
    denied = "Bob approves? He does not: no vinegar in the kettle on "
    page: dict[str, Any] = {"source": "kettle.md", "sequence": 1}
    engine.add("The kettle is descaled by Ms Okafor.", id=KETTLE, title="Care", tags=["Kitchen"], **page)
    engine.add(f"{denied}Fridays.", id=PLAN, title="Plan", tags=["kitchen"])
    engine.add("Ms Okafor services the boiler.", id=BOILER, tags=["heating"], provenance="external")
    engine.add("The red kettle was sold.", id=HIDDEN, tags=["kitchen", "sold"])
    engine.register_type("mentions")
    engine.link(PLAN, "derived_from", BOILER)
    engine.revise(PLAN, f"{denied}Mondays.")


def _go_on(engine: Engine) -> None:
    page: dict[str, Any] = {"source": "kettle.md", "sequence": 2, "provenance": "quarantine"}
    engine.add("Vinegar for the kettle stands on the shelf.", id=TIP, title="Tip", **page)
    engine.link(PLAN, "mentions", KETTLE)
    engine.link(TIP, "references", KETTLE)
    engine.tag(PLAN, "Chores")
    engine.tombstone(HIDDEN, "Bob denies that it was sold.")
    engine.supersede(BOILER, TIP)


@pytest.fixture(scope="module")
def attack(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Attack]:
    """The window on a memory, behind a proxy that can answer from an older state and from another memory."""
    folder: Path = tmp_path_factory.mktemp("changed")
    urls = {name: f"sqlite:{folder / name}.db" for name in ("memory", "other memory", "older state")}
    for name in ("memory", "other memory"):
        with Engine.open(urls[name]) as engine:
            _fill(engine)
    copy(folder / "memory.db", folder / "older state.db")
    with Engine.open(urls["memory"]) as engine:
        assert engine.size - 1 == MOMENT
        _go_on(engine)
    service = Service(urls["memory"])
    with ExitStack() as stack:
        others = {name: url for name, url in urls.items() if name != "memory"}
        elsewhere = {name: stack.enter_context(client_of(url)) for name, url in others.items()}
        opened = stack.enter_context(window(browser, service))
        opened.settle()
        yield Attack(opened, Recorded(urls["memory"]), elsewhere)
    service.close()


def _tried(attack: Attack, lies: Iterable[Lies]) -> str:
    shown = [attack.tried(one) for one in lies]
    return f"{len(shown):,} changed answers: {sum(shown):,} pages with a mark, {shown.count(False):,} without"


def test_a_changed_answer_puts_no_mark_over_what_is_not_recorded(attack: Attack) -> None:
    """A part of all changes of one field, and of two."""
    chosen = random.Random(34)
    singles, pairs = list(attack.alone()), list(attack.pairs())
    _tried(attack, chosen.sample(singles, SAMPLE) + chosen.sample(pairs, SAMPLE))


@pytest.mark.soak
def test_no_changed_answer_puts_a_mark_over_what_is_not_recorded(attack: Attack) -> None:
    """Every change of every field, and every two kinds of changes."""
    for lies in (attack.alone(), attack.pairs()):
        print(_tried(attack, lies))  # noqa: T201  the counts for docs/reliability.md


def _with(**fields: Any) -> Callable[[Any], Any]:
    return lambda answer: answer | fields


def _first(change: Callable[[Any], Any]) -> Callable[[list[Any]], list[Any]]:
    return lambda items: [change(items[0]), *items[1:]]


def _edge(answer: list[Any]) -> list[Any]:
    """Return the edge from the plan to the boiler, which touches no other atom."""
    return [answer[0] | {"src": PLAN, "type": "derived_from", "dst": BOILER}]


def _confession(event: Any) -> Any:
    return event | {"kind": "atom_tombstoned", "detail": {"ordinal": 0, "reason": "Bob confessed"}}


EXAMPLES: Final[dict[str, tuple[str, str, Callable[[Any], Any], list[str], list[str]]]] = {
    "a duplicate that hides an omission": (
        *("tag=kitchen", "find"),
        lambda answer: [answer[0]] * len(answer),
        [],
        ["Care", "Plan"],
    ),
    "another kind of event, with a reason": (
        *(f"atom={PLAN}", "history", _first(_confession)),
        ["Bob confessed", "atom tombstoned"],
        ["atom added"],
    ),
    "an edge of other atoms": (
        *(f"atom={KETTLE}", "edges", _edge),
        ["derived from"],
        ["mentions", "references"],
    ),
    "the page of another atom": (
        *(f"q=unicorn&atom={KETTLE}", "resolve", lambda _: BOILER),
        ["services the boiler"],
        ["is descaled by Ms Okafor"],
    ),
    "pieces of a text in another order": (
        *("q=Bob", "recall"),
        lambda answer: answer | {"hits": _first(_with(snippet="He does … Bob approves"))(answer["hits"])},
        ["He does … Bob approves"],
        ["He does not"],
    ),
    "another heading": (
        *("q=Bob", "recall"),
        lambda answer: answer | {"hits": _first(_with(page="Confessions", source="bob.md"))(answer["hits"])},
        ["Confessions", "bob.md"],
        ["No source"],
    ),
    "a tag of a hidden atom": (
        *(f"atom={HIDDEN}", "get", _with(tags=["kitchen", "confessed"])),
        ["confessed"],
        ["#kitchen", "#sold"],
    ),
    "another time and trust": (
        *(f"atom={KETTLE}", "get", _with(created="2001-01-01T00:00:00Z", trust=93)),
        ["2001-01-01"],
        ["not given"],
    ),
    "another passage": (
        *("q=Bob&form=context", "context"),
        lambda answer: answer | {"windows": _first(_with(text="Bob confessed."))(answer["windows"])},
        ["Bob confessed"],
        [UNCHANGED, "He does not"],
    ),
}
"""Lies that once stood under a mark: a place, an operation, its answer, and words not to show and to show."""


@pytest.mark.parametrize("name", EXAMPLES)
def test_a_lie_that_once_stood_under_a_mark_does_not(attack: Attack, name: str) -> None:
    """The false words are struck out, or are nowhere; what is recorded is shown."""
    place, operation, lie, false, true = EXAMPLES[name]
    attack.opened.service.lie = lambda asked, given, answer: lie(answer) if asked == operation else answer
    attack.opened.visit(place)
    attack.opened.service.lie = lambda *given: given[2]
    seen = attack.opened.page.evaluate(SEEN)
    shown = " ".join([seen["rest"], *(leaves[0] for _, leaves in seen["proved"]), *seen["marks"]])
    assert [word for word in false if word in shown] == []
    assert [word for word in true if word not in shown] == []
