"""Every bad argument raises a short EngineError before anything is written."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine import Add, Engine, Relate
from engine.base.errors import EngineError
from tests.query.recall.support import id_of
from tests.support.engines import engine_on, unchanged_by

pytestmark = pytest.mark.slow

BAD: tuple[Any, ...] = (
    None,
    5,
    -1,
    2**70,
    1.5,
    float("nan"),
    True,
    b"kettle",
    [],
    {},
    object(),
    "",
    " ",
    "\x00",
    "\ud800",
    "\n",
    "x" * 70_000,
    "-" * 70_000,
    "abcd" + "-" * 70_000,
    "１２３４５６７８",
    "\u200b",
)
GIVEN = st.sampled_from(BAD) | st.text(max_size=20) | st.integers() | st.none() | st.binary(max_size=20)

ARGUMENTS: dict[str, dict[str, Any]] = {
    "explore_recall": {"query": "kettle", "limit": 5, "filters": None, "known": (), "budget": None},
    "explore_peek": {"id": id_of(1), "query": None, "budget": None},
    "explore_expand": {"id": id_of(1), "budget": None, "offset": 0},
    "explore_neighbors": {"node": "kettle", "direction": "both", "limit": 5, "offset": 0, "budget": None},
}
EACH = [(verb, name) for verb, given_there in ARGUMENTS.items() for name in given_there]


@pytest.fixture(scope="module")
def engine() -> Engine:
    """A memory with an atom and a relation."""
    made = engine_on()
    made.apply([Add("The kettle boils.", id=id_of(1)), Relate("kettle", "makes", "tea")])
    made.catch_up()
    return made


def called(engine: Engine, verb: str, given_there: dict[str, Any]) -> EngineError | None:
    """The EngineError of a call, or None; other exceptions propagate."""
    rest = {name: value for name, value in given_there.items() if name != "filters" or value is not None}
    try:
        getattr(engine.explorer(), verb)(**rest)
    except EngineError as error:
        return error
    return None


@pytest.mark.parametrize(("verb", "name"), EACH)
@pytest.mark.parametrize("value", BAD, ids=lambda value: ascii(value)[:20])
def test_each_bad_argument_is_refused_shortly(engine: Engine, verb: str, name: str, value: object) -> None:
    """A bad argument raises an EngineError of a few lines and changes no row."""
    before = engine.root()
    error = called(engine, verb, ARGUMENTS[verb] | {name: value})
    assert error is None or len(str(error)) < 600
    assert engine.root() == before


@given(st.data())
@settings(max_examples=300)
def test_any_arguments_are_answered_or_refused(engine: Engine, data: st.DataObject) -> None:
    """Any combination of arguments gives an answer or an EngineError."""
    verb = data.draw(st.sampled_from(sorted(ARGUMENTS)))
    changed = data.draw(st.dictionaries(st.sampled_from(sorted(ARGUMENTS[verb])), GIVEN, min_size=1))
    called(engine, verb, ARGUMENTS[verb] | changed)


@pytest.mark.parametrize("value", ["1234567", "\x00", None, 7, object()])
@pytest.mark.parametrize("name", ["form", "spent"])
def test_an_explorer_of_nothing_sensible_is_refused(engine: Engine, name: str, value: Any) -> None:
    """The constructor validates `form` and `spent`."""
    if (name, value) != ("spent", 7):
        with pytest.raises(EngineError):
            engine.explorer(**{name: value})


FINE = (
    ("source", None),
    ("weight", 5),
    ("weight", -1),
    ("weight", 2**70),
    ("weight", 1.5),
    ("subject", "１２３４５６７８"),
    ("object", "１２３４５６７８"),
)
"""What is among the bad values and no fault there."""


@pytest.mark.parametrize(
    ("field", "value"),
    [
        (field, value)
        for field in ("subject", "predicate", "object", "source", "weight")
        for value in BAD
        if (field, repr(value)) not in {(name, repr(fine)) for name, fine in FINE}
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_a_bad_relation_is_refused_and_nothing_is_written(engine: Engine, field: str, value: Any) -> None:
    """A relation with a bad part raises an error and adds no entity."""
    given_there = {"subject": "new one", "predicate": "newly", "object": "new two"}

    def relate() -> None:
        with pytest.raises(EngineError):
            engine.relate(**(given_there | {field: value}))

    assert unchanged_by(engine, relate)


@pytest.mark.parametrize("field", ["subject", "predicate", "object", "reason"])
@pytest.mark.parametrize("value", [None, 5, b"x", "\x00", "\ud800", "\n", "x" * 5000])
def test_a_bad_unrelation_is_refused(engine: Engine, field: str, value: Any) -> None:
    """Removing a relation with a bad part raises an error."""
    given_there = {"subject": "kettle", "predicate": "makes", "object": "tea", "reason": ""}

    def unrelate() -> None:
        with pytest.raises(EngineError):
            engine.unrelate(**(given_there | {field: value}))

    assert unchanged_by(engine, unrelate)
