"""Actions as text: valid actions, invalid actions, and round trips."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import InvalidInputError
from engine.query.explore.explore_actions import ARGUMENT_BYTES_MAX, Action, Verb, parse_action
from tests.support.shared_data import needs

ids = st.from_regex(r"[0-9a-f]{8}(-[0-9a-f]{4}){0,3}", fullmatch=True)
lines = st.text(min_size=1, max_size=60)
TRICKY = ('a "quoted" word', "back\\slash", "日本語", "x) RECALL(y", "\\u0022", '"')


@st.composite
def actions(draw: st.DrawFn) -> Action:
    """Any valid action."""
    verb = draw(st.sampled_from(Verb))
    if verb is Verb.ANSWER:
        return Action(verb)
    if verb in (Verb.PEEK, Verb.EXPAND):
        return Action(verb, draw(ids))
    try:
        return Action(verb, draw(lines))
    except InvalidInputError:
        return Action(
            verb, draw(st.sampled_from(('a "quoted" word', "back\\slash", "日本語", "x) RECALL(y")))
        )


@given(actions())
def test_an_action_comes_back_from_its_text(action: Action) -> None:
    """`parse_action(str(action))` is the action, for every valid argument."""
    assert parse_action(str(action)) == action


@given(actions(), st.text(" \t\r\n", max_size=3), st.text(" \t\r\n", max_size=3))
def test_white_space_around_an_action_is_allowed(action: Action, before: str, after: str) -> None:
    """White space around an action has no effect."""
    assert parse_action(f"{before}{action}{after}") == action


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PEEK(1f0c2a3b)", Action(Verb.PEEK, "1f0c2a3b")),
        ('EXPAND("1f0c2a3b")', Action(Verb.EXPAND, "1f0c2a3b")),
        ("NEIGHBORS(unix_socket)", Action(Verb.NEIGHBORS, "unix_socket")),
        ('NEIGHBORS("Ada Lovelace")', Action(Verb.NEIGHBORS, "Ada Lovelace")),
        ("NEIGHBORS(#home)", Action(Verb.NEIGHBORS, "#home")),
        ('RECALL("who \\"said\\" so?")', Action(Verb.RECALL, 'who "said" so?')),
        ("ANSWER", Action(Verb.ANSWER)),
    ],
)
def test_actions_are_read(text: str, expected: Action) -> None:
    """Each verb is parsed, with or without quotes around a node and an id."""
    assert parse_action(text) == expected


PEEK = Action(Verb.PEEK, "1f0c2a3b")
DAEMON = Action(Verb.NEIGHBORS, "daemon")
SEARCH = Action(Verb.RECALL, "daemon authentication")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ANSWER - have enough context", Action(Verb.ANSWER)),
        ("[Step 5] ANSWER - have enough context", Action(Verb.ANSWER)),
        ("- ANSWER - I have enough context", Action(Verb.ANSWER)),
        ("[Step 2] PEEK(1f0c2a3b) - socket connection looks relevant", PEEK),
        ('[Step 3] NEIGHBORS("daemon")', DAEMON),
        (
            "EXPAND(00000000-0000-0000-0000-0000000001bd) - JSON-RPC protocol details needed",
            Action(Verb.EXPAND, "00000000-0000-0000-0000-0000000001bd"),
        ),
        ('[Step 1] explore_recall("daemon authentication")', SEARCH),
        ('1. recall("daemon authentication") → 5 hints', SEARCH),
        ("2. peek(1f0c2a3b) → 200 chars", PEEK),
        ('memtool explore_recall --query "daemon authentication" --limit 5', SEARCH),
        (
            'memtool explore_peek --id "00000000-0000-0000-0000-000000000123"',
            Action(Verb.PEEK, "00000000-0000-0000-0000-000000000123"),
        ),
        ('memtool explore_neighbors --node "Mind" --direction both', Action(Verb.NEIGHBORS, "Mind")),
    ],
)
def test_the_lines_of_the_protocol_are_read(text: str, expected: Action) -> None:
    """Steps, traces and commands, of this program and of others, are parsed, with their reasons."""
    assert parse_action(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("```\nPEEK(1f0c2a3b)\n```", PEEK),
        ("```text\r\npeek(1f0c2a3b)\r\n```\r\n", PEEK),
        ("```PEEK(1f0c2a3b)```", PEEK),
        ("`PEEK(1f0c2a3b)`", PEEK),
        ("**PEEK(1f0c2a3b)**", PEEK),
        ("* PEEK(1f0c2a3b)", PEEK),
        ("• Action: peek(1f0c2a3b).", PEEK),
        ("> 2) PEEK 1f0c2a3b", PEEK),
        ("PEEK: [1f0c2a3b]: looks right", PEEK),
        ("PEEK id:1f0c2a3b", PEEK),
        ('peek(id="1f0c2a3b")', PEEK),
        ("Peek (1f0c2a3b) # looks right", PEEK),
        ("expand 1f0c2a3b - all of it", Action(Verb.EXPAND, "1f0c2a3b")),
        ("NEIGHBORS daemon - follow it", DAEMON),
        ("neighbours(daemon)", DAEMON),
        ("NEIGHBORS(node: daemon)", DAEMON),
        ('neighbors "daemon"', DAEMON),
        ("NEIGHBORS(Mercury (planet))", Action(Verb.NEIGHBORS, "Mercury (planet)")),
        ("RECALL(daemon authentication)", SEARCH),
        ("RECALL('daemon authentication')", SEARCH),
        ("recall(“daemon authentication”)", SEARCH),
        ("RECALL daemon authentication - other words", SEARCH),
        ("RECALL(query planner)", Action(Verb.RECALL, "query planner")),
        ("answer", Action(Verb.ANSWER)),
        ("Answer.", Action(Verb.ANSWER)),
        ("ANSWER()", Action(Verb.ANSWER)),
        ("**ANSWER** - enough", Action(Verb.ANSWER)),
        ("The first hint names the socket.\n\nPEEK(1f0c2a3b)", PEEK),
        ("Recall that I know the socket.\nPEEK(1f0c2a3b)\nThis may answer it.", PEEK),
        ("PEEK(1f0c2a3b)\npeek 1f0c2a3b", PEEK),
    ],
)
def test_the_ways_of_models_to_write_an_action_are_read(text: str, expected: Action) -> None:
    """Fences, bullets, lower case, missing quotes and prose around the line of the action are allowed."""
    assert parse_action(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I will PEEK(1f0c2a3b)",
        "Answering this needs more",
        "ANSWER or EXPAND(1f0c2a3b)",
        "PEEK [1f0c2a3b] looks right",
        "PEEK 1f0c2a3b, 9a2e17c4",
        "ANSWER - or EXPAND(1f0c2a3b)",
        "PEEK(1f0c2a3b), PEEK(1f0c2a3c)",
        "PEEK(1f0c2a3b); EXPAND(1f0c2a3c)",
        "1. PEEK(1f0c2a3b)\n2. EXPAND(1f0c2a3b)",
        "```\nPEEK(1f0c2a3b)\n```\n```\nANSWER\n```",
        "recall that the kettle is descaled on Mondays",
        "neighbors of the daemon would help",
        "explore_neighbors --node daemon --direction out",
        'explore_recall --query "kettle" --limit 50',
        "PEEK(1f0c2a3b) EXPAND(1f0c2a3b)",
        "PEEK(1f0c2a3b)\nANSWER",
        "PEEK",
        "PEEK()",
        "PEEK(Kettle)",
        "PEEK(1f)",
        "EXPAND(1f0c2a3b, 200)",
        "NEIGHBORS()",
        'NEIGHBORS("")',
        'NEIGHBORS("  ")',
        "NEIGHBORS(a) NEIGHBORS(b)",
        'RECALL("")',
        'RECALL("a" "b")',
        'RECALL("a\\nb")',
        'RECALL("a\nb")',
        'RECALL("\\u0000")',
        'RECALL("\\ud800")',
        'RECALL("\x1b[2J")',
        "DELETE(1f0c2a3b)",
        "ANSWER\x00",
        "x" * (64 << 10),
        f'RECALL("{"x" * (ARGUMENT_BYTES_MAX + 1)}")',
        "PEEK(" + "(" * 5000,
    ],
)
def test_anything_else_is_refused_and_says_what_is_expected(text: str) -> None:
    """Anything else raises an error whose hint lists the actions."""
    with pytest.raises(InvalidInputError) as refused:
        parse_action(text)
    assert "PEEK(id), EXPAND(id), NEIGHBORS(node), RECALL" in refused.value.hint


@given(st.text(max_size=200))
def test_no_text_is_more_than_an_action_or_an_error(text: str) -> None:
    """Any reply is an action that can be written again, or an EngineError."""
    try:
        action = parse_action(text)
    except InvalidInputError:
        return
    assert parse_action(str(action)) == action


def test_naughty_strings_are_queries_or_errors() -> None:
    """Naughty strings are unchanged as queries, or raise an EngineError."""
    for text in json.loads(needs("vectors/strings/blns.json").read_text(encoding="utf-8")):
        try:
            action = Action(Verb.RECALL, text)
        except InvalidInputError:
            continue
        assert parse_action(str(action)) == action


def test_what_is_no_text_is_refused() -> None:
    """A reply that is not a string, and an invalid verb, raise an EngineError."""
    with pytest.raises(InvalidInputError, match="of type NoneType is not a string"):
        parse_action(None)  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="verb must be a Verb"):
        Action("PEEK", "1f0c2a3b")  # type: ignore[arg-type]


def test_a_long_reply_is_not_looked_at() -> None:
    """A reply that is too long is rejected even if it is an action and white space."""
    with pytest.raises(InvalidInputError, match="characters is too long for an action"):
        parse_action("ANSWER" + " " * (64 << 10))
