"""Find: the bounded walk, compared with a naive breadth-first search."""

from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.base import limits
from engine.base.errors import ConflictError, EngineError, InvalidInputError, LimitError, NotFoundError
from engine.base.model import Direction
from engine.base.validation import show_id
from engine.commands import Add, Link, RegisterType, Tombstone, Unlink
from engine.commands.edges import known_type
from engine.engine import Engine
from engine.ledger.queries import edge_of, edges_at
from engine.query.filters import Filters
from engine.query.graph.find import FIND_LIMIT, Follow, Form, every
from proofs.leaves import EdgeType
from tests.support.engines import engine_on

DAY = 86_400_000_000
IDS = [show_id(bytes([(number * 37) % 251 + 1] * 16)) for number in range(9)]
TYPES = {"references": b"\x06", "related_to": b"\x01", "near": b"\x80\x00", "far": b"\x80\x01"}
NODES = st.integers(0, len(IDS) - 1)
EDGE = st.tuples(NODES, st.sampled_from(sorted(TYPES)), NODES).filter(lambda edge: edge[0] != edge[2])
GRAPHS = st.lists(EDGE, max_size=24, unique=True)
Edge = tuple[int, str, int]


def engine_with(
    edges: list[Edge], hidden: set[int] | frozenset[int] = frozenset(), gone: list[Edge] | None = None
) -> Engine:
    """An engine with nine atoms and `edges`, of which `hidden` and `gone` are tombstoned."""
    engine = engine_on()
    engine.apply([*(Add(f"atom {n}", id=one, tags=[f"n{n % 2}"]) for n, one in enumerate(IDS))])
    engine.apply([RegisterType("near"), RegisterType("far")])
    engine.apply([Link(IDS[src], kind, IDS[dst]) for src, kind, dst in edges])
    engine.apply([Tombstone(IDS[n]) for n in sorted(hidden)])
    engine.apply([Unlink(IDS[src], kind, IDS[dst]) for src, kind, dst in gone or ()])
    return engine


def naive(
    edges: list[Edge],
    hidden: set[int],
    start: int,
    direction: str,
    types: tuple[str, ...],
    fewest: int,
    most: int,
) -> list[tuple[str, int]]:
    """(id, hops) of all reached atoms, by hops, then by (type, id) from each node."""
    steps: dict[int, list[tuple[bytes, str, int]]] = {n: [] for n in range(len(IDS))}
    for src, kind, dst in edges:
        if not types or kind in types:
            if direction in ("out", "both"):
                steps[src].append((TYPES[kind], IDS[dst], dst))
            if direction in ("in", "both"):
                steps[dst].append((TYPES[kind], IDS[src], src))
    reached, level, seen = [(start, 0)], [start], {start}
    for hops in range(1, min(most, 6) + 1):
        following = []
        for node in level:
            for _, _, other in sorted(steps[node]):
                if other not in seen and other not in hidden:
                    seen.add(other)
                    following.append(other)
        reached += [(node, hops) for node in following]
        level = following
    return [(IDS[node], hops) for node, hops in reached if hops >= fewest and node not in hidden]


@settings(max_examples=120, deadline=None)
@given(
    GRAPHS,
    st.sets(NODES, max_size=3),
    st.lists(EDGE, max_size=3),
    NODES,
    st.sampled_from(["out", "in", "both"]),
    st.sets(st.sampled_from(sorted(TYPES)), max_size=2),
    st.integers(0, 3),
    st.integers(0, 8),
)
def test_the_walk_is_that_of_a_naive_search(
    edges: list[Edge],
    hidden: set[int],
    gone: list[Edge],
    start: int,
    direction: str,
    types: set[str],
    fewest: int,
    more: int,
) -> None:
    """Order, distances, directions, types, bounds and hidden items agree with the search."""
    engine = engine_with(edges, hidden, gone)
    left = [edge for edge in edges if edge not in gone]
    most = min(fewest + more, limits.MAX_HOPS_CAP)
    follow = Follow(tuple(sorted(types)), Direction(direction), fewest, most)
    found = engine.find(from_=IDS[start], follow=follow, limit=100, form="short")
    expected = naive(left, hidden, start, direction, tuple(types), fewest, most)
    assert [(one.id, one.hops) for one in found] == expected


@settings(max_examples=20, deadline=None)
@given(GRAPHS, NODES, st.integers(1, 5))
def test_a_limit_cuts_the_same_answer_short(edges: list[Edge], start: int, limit: int) -> None:
    """A smaller limit gives a beginning of the longer answer, and repeated calls agree."""
    engine = engine_with(edges)
    follow = Follow(direction=Direction.BOTH, max_hops=6)
    whole = engine.find(from_=IDS[start], follow=follow, limit=100)
    assert engine.find(from_=IDS[start], follow=follow, limit=limit) == whole[:limit]
    assert engine.find(from_=IDS[start], follow=follow, limit=100) == whole


def chain() -> Engine:
    """Nine atoms in a row."""
    return engine_with([(n, "near", n + 1) for n in range(8)])


def test_no_walk_goes_beyond_six_hops() -> None:
    """MAX_HOPS_CAP bounds every walk, and a longer walk is refused, not cut."""
    found = chain().find(from_=IDS[0], follow=Follow(max_hops=6), limit=100)
    assert [one.hops for one in found] == [1, 2, 3, 4, 5, 6]
    assert limits.MAX_HOPS_CAP == 6
    with pytest.raises(LimitError, match="at most 6"):
        chain().find(from_=IDS[0], follow=Follow(max_hops=7))


def test_a_tombstoned_atom_is_no_way_through() -> None:
    """A walk neither returns a tombstoned atom nor passes through it."""
    engine = chain()
    engine.tombstone(IDS[2])
    found = engine.find(from_=IDS[0], follow=Follow(max_hops=6), limit=100)
    assert [one.id for one in found] == [IDS[1]]


def test_filters_hide_results_but_not_ways() -> None:
    """A walk passes through atoms that the filters exclude."""
    found = chain().find(from_=IDS[0], follow=Follow(max_hops=4), filters=Filters(tags=("n0",)), limit=100)
    assert [(one.id, one.hops) for one in found] == [(IDS[2], 2), (IDS[4], 4)]


def test_without_a_start_all_live_atoms_by_ordinal() -> None:
    """Without `from_`, find returns all live atoms by ordinal, at 0 hops."""
    engine = chain()
    engine.tombstone(IDS[3])
    assert [(one.id, one.hops) for one in engine.find(limit=100)] == [
        (one, 0) for one in IDS if one != IDS[3]
    ]


def test_the_forms_hold_more_and_more() -> None:
    """Short has id and title, medium adds 200 characters, full the whole atom."""
    engine = engine_on()
    engine.add("word " * 100, title="Title")
    short, medium, full = (engine.find(limit=1, form=form)[0] for form in Form)
    assert (short.title, short.text, short.atom) == ("Title", None, None)
    assert medium.text is not None
    assert len(medium.text) <= 201
    assert full.atom is not None
    assert full.atom.content == "word " * 100


@pytest.mark.parametrize("limit", [0, -1, True, 1.0, "5", limits.RESULTS_MAX + 1])
def test_a_bad_limit_is_refused(limit: Any) -> None:
    """A limit is a whole number from 1 to 10,000."""
    with pytest.raises(InvalidInputError):
        chain().find(limit=limit)


def test_without_a_limit_a_hundred_are_found() -> None:
    """`find()` without arguments gives the first 100 atoms."""
    with engine_on() as engine:
        list(engine.apply_many(Add(f"text {number}") for number in range(FIND_LIMIT + 1)))

        assert [found.text for found in engine.find()] == [f"text {number}" for number in range(FIND_LIMIT)]


@pytest.mark.parametrize(
    "follow",
    [
        Follow(direction="sideways"),  # type: ignore[arg-type]
        Follow(min_hops=3, max_hops=2),
        Follow(min_hops=7, max_hops=9),
        Follow(max_hops=-1),
        Follow(max_hops=True),
        Follow(types=("unheard_of",)),
        Follow(types=("Not A Label",)),
    ],
)
def test_a_bad_walk_is_refused(follow: Follow) -> None:
    """Invalid directions, hop bounds and types raise an EngineError."""
    with pytest.raises((InvalidInputError, NotFoundError)):
        chain().find(from_=IDS[0], follow=follow, limit=5)


def test_a_walk_needs_a_start() -> None:
    """`follow` without `from_` raises an error."""
    with pytest.raises(InvalidInputError):
        chain().find(follow=Follow(), limit=5)


def test_an_unknown_start_is_not_found() -> None:
    """A start that was never recorded raises NotFoundError."""
    with pytest.raises(NotFoundError):
        chain().find(from_=show_id(bytes([255] * 16)), follow=Follow(), limit=5)


def test_an_edge_type_may_be_given_as_member_or_name() -> None:
    """`EdgeType.PART_OF` and "part_of" are the same type."""
    engine = engine_with([])
    engine.link(IDS[0], EdgeType.PART_OF, IDS[1])
    found = [
        engine.find(from_=IDS[0], follow=Follow((kind,)), limit=5) for kind in (EdgeType.PART_OF, "part_of")
    ]
    assert found[0] == found[1]
    assert [one.id for one in found[0]] == [IDS[1]]


@pytest.mark.parametrize(
    "call",
    [
        lambda engine: engine.find(limit=1, form="huge"),
        lambda engine: engine.edges(IDS[0], direction="sideways"),
        lambda engine: engine.edges(IDS[0], limit=-1),
        lambda engine: engine.edges(IDS[0], limit="3"),
        lambda engine: list(engine.log(-1)),
        lambda engine: engine.get(IDS[0], as_of="yesterday"),
        lambda engine: engine.get(IDS[0], as_of=True),
        lambda engine: engine.root(as_of=1.5),
        lambda engine: engine.resolve(5),
    ],
    ids=[
        "form",
        "direction",
        "limit",
        "limit-text",
        "log-start",
        "as-of-text",
        "as-of-bool",
        "as-of-float",
        "resolve",
    ],
)
def test_bad_arguments_of_queries_raise_our_errors(call: Any) -> None:
    """With any arguments, a query only raises EngineError."""
    with pytest.raises(EngineError):
        call(chain())


def test_a_revised_atom_is_found_on_the_day_it_was_created() -> None:
    """A revision does not change the day: `since` and `until` use the creation."""
    now = 10 * DAY
    engine = engine_on(clock=lambda: now)
    atom = engine.add("text").subject
    now = 20 * DAY
    engine.revise(atom, title="Title")
    around = {
        day: engine.find(limit=5, filters=Filters(since=(day - 2) * DAY, until=(day + 2) * DAY))
        for day in (10, 20)
    }
    assert engine.get(atom).created == 10 * DAY
    assert {day: len(found) for day, found in around.items()} == {10: 1, 20: 0}


def test_the_day_of_an_atom_is_that_of_its_creation_whatever_is_taken_away() -> None:
    """A revision without a creation time keeps the day of `created`."""
    now = 10 * DAY
    engine = engine_on(clock=lambda: now)
    atom = engine.add("text", created=DAY).subject
    now = 20 * DAY
    engine.revise(atom, created=None)
    created = engine.get(atom).created
    around = Filters(since=created - 2 * DAY if created > 2 * DAY else 0, until=created + 2 * DAY)
    assert len(engine.find(limit=5, filters=around)) == 1


@pytest.fixture
def short_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let one call of `find` or `edges` return at most three results."""
    monkeypatch.setattr(limits, "RESULTS_MAX", 3)


@pytest.mark.usefixtures("short_pages")
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    edges=GRAPHS,
    start=NODES,
    direction=st.sampled_from(["out", "in", "both"]),
    types=st.sampled_from([(), ("near",), ("references", "far")]),
    limit=st.none() | st.integers(0, 9),
)
def test_every_edge_is_read_however_many(
    edges: list[Edge], start: int, direction: str, types: tuple[str, ...], limit: int | None
) -> None:
    """Reading edges call by call gives what one call without a bound would give, each edge once."""
    engine = engine_with(edges)
    with engine.store.view() as rows:
        codes = [known_type(rows, kind) for kind in types]
        at = edges_at(rows, bytes.fromhex(IDS[start].replace("-", "")), Direction(direction), codes)
        whole = [edge_of(rows, edge) for edge in at]
    found = list(every(engine.edges, IDS[start], limit=limit, direction=direction, types=types))
    assert found == whole[:limit]


@pytest.mark.usefixtures("short_pages")
def test_every_atom_is_found_however_many() -> None:
    """Finding atoms call by call gives each once, in order, also along edges and in another form."""
    engine = engine_with([(0, "references", number) for number in range(1, 9)])
    assert [one.id for one in every(engine.find, form="short")] == IDS
    assert [one.id for one in every(engine.find, limit=7)] == IDS[:7]
    assert {one.id for one in every(engine.find, from_=IDS[0])} == {*IDS[1:]}
    assert [one.id for one in every(engine.find, form="full", tags=["n1"])] == IDS[1::2]


@pytest.mark.usefixtures("short_pages")
def test_changes_between_two_calls_hide_nothing() -> None:
    """What exists throughout is found, although the last result of a call is revised or hidden meanwhile."""
    engine = engine_with([(0, "references", number) for number in range(1, 9)])
    atoms = every(engine.find)
    seen = [next(atoms).id for _ in range(3)]
    engine.revise(seen[-1], "revised")
    assert [one.id for one in atoms] == [*IDS[3:], seen[-1]]
    edges = every(engine.edges, IDS[0])
    ends = [next(edges).dst for _ in range(3)]
    engine.unlink(IDS[0], "references", ends[-1])
    assert sorted([*ends, *(edge.dst for edge in edges)]) == sorted(IDS[1:])


def test_a_wrong_place_to_continue_is_refused() -> None:
    """An edge of another atom, and an atom that a walk does not reach any more, are refused."""
    engine = engine_with([(0, "references", number) for number in range(1, 9)])
    (edge,) = engine.edges(IDS[0], limit=1)
    with pytest.raises(InvalidInputError):
        engine.edges(next(one for one in IDS if one not in (edge.src, edge.dst)), after=edge.place)
    for wrong in ("edge", (edge.src, edge.dst), 7):
        with pytest.raises(InvalidInputError):
            engine.edges(edge.src, after=wrong)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError):
        engine.find(after=-1)
    last = engine.find(from_=IDS[0])[-1]
    engine.unlink(IDS[0], "references", last.id)
    with pytest.raises(ConflictError):
        engine.find(from_=IDS[0], after=last.place)


@pytest.mark.usefixtures("short_pages")
def test_every_hidden_atom_is_found_once() -> None:
    """An atom of which an earlier version passes, too, is found once, however many calls it takes."""
    engine = engine_with([], hidden={1, 4})
    for one in (0, 2, 7):
        engine.revise(IDS[one], f"revised {one}")
    assert [one.id for one in every(engine.find, hidden=True)] == IDS
