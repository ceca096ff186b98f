"""The order of the messages of a conversation, and the names of speakers."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.exchange.other_programs.chat_exports import order_messages, speaker

NAMES = st.sampled_from("abcdefgh")


@given(
    parents=st.dictionaries(NAMES, st.none() | NAMES | st.just("z")),
    children=st.dictionaries(NAMES, st.lists(NAMES | st.just("z"), max_size=4)),
    current=st.none() | NAMES | st.integers(),
)
@settings(max_examples=300)
def test_every_message_comes_exactly_once(
    parents: dict[str, str | None], children: dict[str, list[str]], current: object
) -> None:
    """Each message is returned exactly once for any links, including cycles."""
    main, others = order_messages(parents, children, current)
    assert sorted([*main, *others]) == sorted(parents)
    if isinstance(current, str) and current in parents:
        assert main[-1] == current
    for earlier, later in pairwise(main):
        assert parents[later] == earlier


def test_a_branch_of_any_length_is_walked() -> None:
    """A branch of a hundred thousand messages does not overflow the stack."""
    names = list(map(str, range(100_000)))
    parents = dict(zip(names, [None, *names], strict=False))
    children = {name: [following] for name, following in pairwise(names)}
    assert order_messages(parents, children, None) == (names, [])


@pytest.mark.parametrize(
    ("role", "label"),
    [
        ("user", "User"),
        ("human", "User"),
        ("assistant", "Assistant"),
        ("tool", "Tool"),
        (7, "Other"),
        ("", "Other"),
        ("a: b", "Other"),
        ("x" * 99, "Other"),
        ("\x1b[2J", "Other"),
    ],
)
def test_who_speaks_is_a_label_that_recall_knows(role: object, label: str) -> None:
    """The speaker of any role is a label that recall recognises."""
    assert speaker(role) == label
