"""The compiled function for events that add edges gives the values of its twin."""

from __future__ import annotations

from typing import Any

from engine.ledger.linking import linked_twin
from hypothesis import given
from hypothesis import strategies as st

from proofs.events import EdgeBody, EdgeDetail
from proofs.log import Frontier
from tests.kernels.native import native
from tests.kernels.test_commit import ID, SALT, assert_equal, frontier_of, numbers

further = st.none() | st.sampled_from(("", "text", "ä" * 60))
edges = st.builds(EdgeDetail, ID, st.binary(min_size=1, max_size=2), ID)
bodies = st.builds(
    EdgeBody,
    weight=st.binary(min_size=4, max_size=4),
    data=st.binary(max_size=40) | st.sampled_from((b"", b"x" * 4096)),
    request=further,
    origin=further,
)


@given(
    numbers.filter(lambda size: size < 1 << 62),
    st.sampled_from(("user", "", "ä")),
    st.dictionaries(edges, st.tuples(bodies, SALT, numbers), max_size=5),
    st.integers(0, 600),
)
def test_linked_rows(
    size: int, actor: str, given_edges: dict[EdgeDetail, tuple[EdgeBody, bytes, int]], more: int
) -> None:
    """Rows, commitments, leaves and frontier are the twin's, also of runs that use several threads."""
    details, values = list(given_edges), list(given_edges.values())
    if values:
        ids = [number.to_bytes(16, "little") for number in range(1, more)]
        details += [
            EdgeDetail(at, b"\x03", bytes(16)) for at in ids if (at, b"\x03", bytes(16)) not in details
        ]
        values += [values[number % len(given_edges)] for number in range(len(details) - len(values))]
    contents, salts, times = ([value[at] for value in values] for at in range(3))
    run = linked_twin(
        frontier_of(size),
        actor,
        details,
        contents,  # type: ignore[arg-type]
        salts,  # type: ignore[arg-type]
        times,  # type: ignore[arg-type]
    )
    found = native().linked_rows(frontier_of(size).to_bytes(), actor, details, contents, salts, times)
    assert_equal(found, run)


junk: st.SearchStrategy[Any] = st.sampled_from((None, 1, -1, 1 << 64, 1.5, "a", b"", b"x" * 31, (), [], True))


@given(st.sampled_from(("edge", "body", "salt", "time", "frontier")), st.integers(0, 3), junk, edges, bodies)
def test_unusual_arguments_are_declined_or_right(
    place: str, field: int, value: Any, edge: EdgeDetail, body: EdgeBody
) -> None:
    """Arguments that the kernel cannot encode are left to the twin; no argument makes it fail."""
    arguments: dict[str, Any] = {
        "edge": edge,
        "body": body,
        "salt": bytes(32),
        "time": 1,
        "frontier": bytes(8),
    }
    if place == "edge":
        arguments["edge"] = (*edge[:field], value, *edge[field + 1 :])
    elif place == "body":
        arguments["body"] = (*body[:field], value, *body[field + 1 :])
    elif place != "frontier" or isinstance(value, bytes):
        arguments[place] = value
    lists = [[arguments[name]] for name in ("edge", "body", "salt", "time")]
    found = native().linked_rows(arguments["frontier"], "user", *lists)
    if found is not None:
        detail, content = EdgeDetail(*arguments["edge"][:3]), EdgeBody(*arguments["body"])
        frontier = Frontier.from_bytes(arguments["frontier"])
        expected = linked_twin(frontier, "user", [detail], [content], lists[2], lists[3])
        assert found[0] == expected.rows


@given(edges, bodies)
def test_requests_and_origins_are_encoded(edge: EdgeDetail, body: EdgeBody) -> None:
    """Events with a request and an origin are not left to the twin, because all of the dreamer's have one."""
    found = native().linked_rows(bytes(8), "user", [edge], [body], [bytes(32)], [1])
    assert found is not None
    assert (
        found[0] == linked_twin(Frontier.from_bytes(bytes(8)), "user", [edge], [body], [bytes(32)], [1]).rows
    )
