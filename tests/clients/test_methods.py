"""The methods of a client do and return what those of the memory itself do and return."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from engine import (
    Add,
    ConflictError,
    Direction,
    EdgeType,
    Engine,
    Filters,
    Follow,
    InvalidInputError,
    NotFoundError,
    RefusedError,
    Revise,
    Tag,
    every,
)
from engine.base import limits
from engine.base.scopes import offers
from engine.clients.remote_engine import RemoteEngine
from engine.clients.wire.operations import operations
from engine.memory.memory_protocol import Memory, is_memory
from tests.clients.support import connected, new_store


class Both(NamedTuple):
    """A client, and the memory itself, open at the same time."""

    remote: RemoteEngine
    local: Engine
    kettle: str
    vinegar: str


@contextmanager
def opened(path: Path) -> Iterator[Both]:
    """Yield a memory with a few texts, and a client of it."""
    url = new_store(path / "memory.db")
    with connected(url) as remote, Engine.open(url) as local:
        kettle = local.add(
            "The kettle in Oslo is descaled with vinegar.",
            tags=["kitchen"],
            meta={"time": 5, "by": "Ana"},
            source="notes.md",
            created=datetime(2026, 3, 1, tzinfo=UTC),
        )
        vinegar = local.add("Vinegar stands on the upper shelf.", tags=["kitchen", "shelf"])
        local.link(kettle.id, EdgeType.RELATED_TO, vinegar.id, 0.5)
        local.relate("Ana", "lives_in", "Oslo")
        (path / "tea.md").write_text("# Tea\n\nTea needs water from the kettle.\n", encoding="utf-8")
        local.ingest([path / "tea.md"])
        yield Both(remote, local, kettle.id, vinegar.id)


NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)

QUERIES: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "across": (("Ana",), {}),
    "bright_nodes": (("kettle",), {"limit": 3}),
    "conflicts": ((), {}),
    "context": (("kettle",), {"budget": 200, "tags": ["kitchen"]}),
    "diff": ((1, 3), {}),
    "duplicates": ((), {}),
    "edges": (("KETTLE",), {"direction": Direction.BOTH, "as_of": 3}),
    "erasable": (("KETTLE",), {}),
    "explore": (("What is descaled?",), {"budget": 400}),
    "find": ((), {"from_": "KETTLE", "follow": Follow(), "filters": Filters(kinds=("note",))}),
    "get": (("KETTLE",), {"as_of": 1}),
    "get_edge": (("KETTLE", EdgeType.RELATED_TO, "VINEGAR"), {}),
    "held_back": (("KETTLE",), {}),
    "history": (("KETTLE",), {}),
    "page": (("tea",), {}),
    "recall": (
        ("kettle",),
        {"explain": True, "meta": {"time": 5}, "since": NEW_YEAR},
    ),
    "recent": ((), {"limit": 2}),
    "sources": ((), {"limit": 2}),
    "resolve": (("KETTLE",), {}),
    "revertible": ((1,), {"actor": "user"}),
    "root": ((), {"as_of": 2}),
    "structured_graph": (("kettle",), {}),
    "tags": ((), {"as_of": 1}),
    "titles": ((["KETTLE", "VINEGAR"],), {}),
    "verify": ((), {}),
    "was_kept": ((1, "00" * 32), {}),
    "why": (("KETTLE",), {}),
}
"""Method → arguments, in which the names of the two texts stand for their ids."""


def filled(value: Any, both: Both) -> Any:
    """Return an argument with ids in place of names."""
    names = {"KETTLE": both.kettle, "VINEGAR": both.vinegar}
    if isinstance(value, list):
        return [filled(item, both) for item in value]
    return names.get(value, value) if isinstance(value, str) else value


def test_every_query_answers_as_the_memory_itself(tmp_path: Path) -> None:
    """The results are equal objects, with the same types."""
    with opened(tmp_path) as both:
        for name, (args, options) in QUERIES.items():
            given = [filled(one, both) for one in args]
            named = {key: filled(one, both) for key, one in options.items()}
            expected = getattr(both.local, name)(*given, **named)
            answered = getattr(both.remote, name)(*given, **named)
            assert answered == expected, name
            assert type(answered) is type(expected), name
        assert both.remote.size == both.local.size
        assert list(both.remote.log(1, 3)) == list(both.local.log(1, 3))


def test_every_operation_is_a_method_and_everything_else_is_refused(tmp_path: Path) -> None:
    """Each public name of `Engine` is an operation, a method of the client, or a refusal with a hint."""
    own = {"close", "apply_many", "add_once", "export", "mirror_problem", "read_only"}
    with opened(tmp_path) as both:
        for name in sorted(set(dir(Engine)) - own):
            if name.startswith("_") or name in operations():
                continue
            assert offers(Engine)[name].reason
            with pytest.raises(RefusedError, match=f"a client cannot use {name}") as refused:
                getattr(both.remote, name)()
            assert refused.value.hint
        assert both.remote.mirror_problem is None
        assert both.remote.read_only is None
        assert not hasattr(both.remote, "recal")
        with pytest.raises(RefusedError, match="name of the token"):
            _ = both.remote.actor


def test_a_client_and_an_open_store_have_the_members_of_a_memory_in_common(tmp_path: Path) -> None:
    """Both satisfy the protocol; the client is no `Engine`, and lacks what only an open store has."""

    def events(memory: Memory) -> int:
        return memory.size

    with opened(tmp_path) as both:
        assert events(both.remote) == events(both.local)
        assert is_memory(both.remote)
        assert is_memory(both.local)
        assert not is_memory("a text")
        assert not isinstance(both.remote, Engine)
        for name, offer in offers(Engine).items():
            assert hasattr(both.local, name)
            assert hasattr(both.remote, name) == offer.by_client, name


def test_a_client_runs_no_code_of_an_open_store() -> None:
    """Each member of the protocol is defined by the client itself."""
    for name, offer in offers(Engine).items():
        if offer.by_client:
            assert name in vars(RemoteEngine), name


def test_every_change_answers_with_the_classes_of_the_memory(tmp_path: Path) -> None:
    """What changes the memory returns objects of the same types, with the effects that they state."""
    with opened(tmp_path) as both:
        remote, kettle, vinegar = both.remote, both.kettle, both.vinegar
        remote.catch_up()
        results = {
            "add": remote.add("The kettle in Oslo is descaled with vinegar, always."),
            "apply": remote.apply([Tag(kettle, ("a",))])[0],
            "checkpoint": remote.checkpoint(),
            "checkpoint_note": remote.checkpoint_note(),
            "dream": remote.dream(budget=5),
            "link": remote.link(kettle, "part_of", vinegar),
            "merge": remote.merge(kettle, vinegar, force=True),
            "unmerge": remote.unmerge(vinegar),
            "rebuild": remote.rebuild(),
            "register_type": remote.register_type("near"),
            "relate": remote.relate("Ben", "knows", "Ana"),
            "unrelate": remote.unrelate("Ben", "knows", "Ana"),
            "revise": remote.revise(kettle, "The kettle is new."),
            "supersede": remote.supersede(vinegar, kettle),
            "tag": remote.tag(kettle, "b"),
            "untag": remote.untag(kettle, "b"),
            "tombstone": remote.tombstone(kettle, "gone"),
            "revive": remote.revive(kettle),
            "unlink": remote.unlink(kettle, "part_of", vinegar),
            "revert": remote.revert(1, actor="dreamer", dry_run=True),
            "erase": remote.erase(kettle, "asked for"),
        }
        changing = {name for name, one in operations().items() if not one.is_read} - {
            "catch_up",
            "settle",
            "verify",
        }
        assert set(results) == changing
        for name, result in results.items():
            expected = getattr(Engine, name).__annotations__["return"]
            assert expected.startswith(("None", "list[", type(result).__name__)), name
        assert both.local.get(kettle).content == ""
        assert both.local.verify().ok


def test_commands_are_carried_out_with_the_name_of_the_token(tmp_path: Path) -> None:
    """Commands give receipts of events that the memory has; their actor is the token's name."""
    with opened(tmp_path) as both:
        added = both.remote.add("The lamp is new.", tags=["light"], created=datetime(2026, 5, 1, tzinfo=UTC))
        both.remote.tag(added.id, "hall", "lamp")
        both.remote.revise(added.id, title=None, trust=70)
        both.remote.link(added.id, "references", both.kettle, data=b"\xa0")
        receipts = both.remote.apply(
            [Add("One."), Revise(added.id, tags=["hall"]), Tag(both.kettle, ("old",))], pipeline="test 1"
        )
        atom = both.local.get(added.id)
        assert (atom.tags, atom.trust) == (("hall",), 70)
        assert [len(one.events) for one in receipts] == [1, 1, 1]
        assert {event.actor for event in both.local.log(receipts[0].events[0].seq)} == {"admin"}
        assert not both.remote.add_once(Add("The lamp is new.")).changed


def test_many_commands_are_sent_in_batches(tmp_path: Path) -> None:
    """`apply_many` yields a receipt for each command, and does nothing before it is read."""
    with opened(tmp_path) as both:
        before = both.local.size
        receipts = both.remote.apply_many(Add(f"text {number}") for number in range(1200))
        assert both.local.size == before
        assert [one.events[0].seq for one in receipts] == list(range(before, before + 1200))


def test_errors_are_raised_as_their_classes(tmp_path: Path) -> None:
    """An error of the memory is raised by the client with its class, message and hint."""
    with opened(tmp_path) as both:
        calls: list[tuple[type[Exception], str, tuple[Any, ...], dict[str, Any]]] = [
            (NotFoundError, "get", ("00000000-0000-8000-8000-000000000001",), {}),
            (InvalidInputError, "recall", ("",), {}),
            (InvalidInputError, "recall", ("kettle",), {"colour": "red"}),
            (ConflictError, "apply", ([Add("x")],), {"if_head": 0}),
        ]
        for kind, name, args, options in calls:
            with pytest.raises(kind) as here:
                getattr(both.local, name)(*args, **options)
            with pytest.raises(kind) as there:
                getattr(both.remote, name)(*args, **options)
            assert str(there.value) == str(here.value)
        with pytest.raises(TypeError):
            both.remote.recall()  # type: ignore[call-arg]


def test_what_a_client_may_not_pass_is_refused(tmp_path: Path) -> None:
    """Functions, another actor and times without a zone are refused before anything is sent."""
    with opened(tmp_path) as both:
        with pytest.raises(RefusedError, match="cannot pass progress"):
            both.remote.erase(both.kettle, "wrong", progress=print)
        with pytest.raises(RefusedError, match="name of the token"):
            both.remote.apply([], actor="eve")
        with pytest.raises(InvalidInputError, match="without a time zone"):
            both.remote.get(both.kettle, as_of=datetime(2026, 1, 1))  # noqa: DTZ001  the point of the test
        with pytest.raises(InvalidInputError, match="without a time zone"):
            both.remote.apply([Add("x", created=datetime(2026, 1, 1))])  # noqa: DTZ001
        assert both.local.get(both.kettle).content


def test_an_export_is_the_journal(tmp_path: Path) -> None:
    """`export` passes the same bytes on, and returns the roots at their end."""
    with opened(tmp_path) as both:
        here: list[bytes] = []
        there: list[bytes] = []
        roots = both.local.export(here.append)
        assert both.remote.export(there.append) == roots
        assert b"".join(there) == b"".join(here)


def test_a_client_reads_every_edge_and_finds_every_atom(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More results than one answer may have are read in several calls, by a client as by the memory."""
    with opened(tmp_path) as both:
        atoms, edges = both.local.find(), both.local.edges(both.vinegar, direction="both")
        monkeypatch.setattr(limits, "RESULTS_MAX", 1)
        assert list(every(both.remote.find)) == atoms
        assert list(every(both.remote.edges, both.vinegar, direction="both")) == edges
