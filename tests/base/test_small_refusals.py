"""Arguments that used to be accepted silently, or that failed with an exception of Python."""

from __future__ import annotations

from typing import Any

import pytest

from engine import Engine, Filters, InvalidInputError
from tests.support.workloads import id_of


@pytest.fixture
def engine() -> Engine:
    """A store with two atoms."""
    engine = Engine.open("memory:")
    engine.add("One.", id=id_of(1))
    engine.add("Two.", id=id_of(2))
    return engine


@pytest.mark.parametrize("reason", ["", "  "])
def test_an_erasure_needs_a_reason(engine: Engine, reason: str) -> None:
    """An erasure without a reason destroys nothing."""
    with pytest.raises(InvalidInputError, match="needs a reason"):
        engine.erase(id_of(1), reason)
    assert engine.get(id_of(1)).content == "One."


def test_a_range_that_ends_before_it_begins_is_refused(engine: Engine) -> None:
    """`revert` does not take an inverted range for an empty one."""
    with pytest.raises(InvalidInputError, match="start must not be above stop"):
        engine.revert(2, 1)


@pytest.mark.parametrize("call", ["verify", "rebuild", "mirror", "check_mirror", "export", "backup", "erase"])
def test_a_progress_must_be_a_function(engine: Engine, call: str) -> None:
    """A value that cannot be called is refused before any work."""
    before: dict[str, Any] = {
        **dict.fromkeys(("mirror", "check_mirror", "backup"), ("x",)),
        "export": (print,),
        "erase": (id_of(1), "why"),
    }
    with pytest.raises(InvalidInputError, match="progress must be a function, not int"):
        getattr(engine, call)(*before.get(call, ()), progress=5)
    assert engine.get(id_of(1)).content == "One."


@pytest.mark.parametrize(
    ("name", "value"), [("config", {"weights": 1}), ("config", 5), ("clock", 5), ("salts", None)]
)
def test_an_option_of_a_wrong_type_opens_no_store(name: str, value: Any) -> None:
    """A wrong option is refused when the store is opened, not when it is first used."""
    with pytest.raises(InvalidInputError, match=name):
        Engine.open("memory:", **{name: value})


def test_the_message_about_a_time_names_datetimes(engine: Engine) -> None:
    """A text in place of a time is refused with the types that are allowed."""
    with pytest.raises(InvalidInputError, match="must be a datetime with a time zone"):
        engine.find(filters=Filters(since="2020-01-01"))  # type: ignore[arg-type]
