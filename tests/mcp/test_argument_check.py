"""Errors name the invalid argument, and no argument can crash the server."""

from __future__ import annotations

import json
import logging
import re
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it ships no type hints
from jsonschema.exceptions import best_match  # type: ignore[import-untyped]

from engine.base.errors import CorruptionError, EngineError, InvalidInputError
from engine.engine import Engine
from engine.mcp.argument_check import checked
from engine.mcp.memory_profile import PROFILE
from engine.mcp.profiles import MODULES, profile_of
from engine.mcp.reading_tools import RECALL
from engine.mcp.tool_definition import Profile, Tool
from tests.mcp.support import Answer, Memory
from tests.support.shared_data import needs
from tests.support.soak import often

pytestmark = pytest.mark.slow

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)
TOOL = st.sampled_from(PROFILE.tools)


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    """Return a tool and arguments with its names and arbitrary values."""
    tool = draw(TOOL)
    names = st.sampled_from([*tool.input["properties"], "other"])
    value = JSON | st.sampled_from(["kettle", ["a"], 0, 1, 5, 100, 20_000])
    return tool.name, draw(st.dictionaries(names, value, max_size=6))


@settings(max_examples=60)
@given(st.lists(calls(), min_size=1, max_size=4))
def test_whatever_the_arguments_a_tool_answers_or_refuses(made: list[tuple[str, dict[str, Any]]]) -> None:
    """Every call gives a text, or an expected error with a code and a message."""
    with Engine.open("memory:") as engine:
        memory = Memory(engine)
        memory.found("remember", content="A kettle.")
        for answer in memory.answers(*made):
            if answer.is_error:
                assert answer.error["code"] in {"invalid", "limit", "not_found", "conflict", "refused"}
                assert answer.error["message"]
            else:
                assert answer.text.strip()
        assert engine.verify().ok


@pytest.mark.parametrize(
    ("tool", "arguments", "message"),
    [
        ("explore_recall", {}, "query missing"),
        ("explore_recall", {"query": 5}, "query is not of type string"),
        ("explore_recall", {"query": "a", "limit": 51}, "limit is greater than 50"),
        ("explore_recall", {"query": "a", "limit": 0}, "limit is less than 1"),
        ("explore_recall", {"query": "a", "limit": True}, "limit is not of type integer"),
        ("explore_recall", {"query": "a", "budget": 20_001}, "budget is greater than 20000"),
        ("explore_recall", {"query": "a", "path": "/etc"}, "unknown argument 'path'"),
        ("explore_recall", {"query": "a" * 4001}, "query is longer than 4000 characters"),
        ("explore_recall", {"query": "a\0b"}, "query has U+0000 at character 1"),
        ("explore_recall", {"query": "\ufffe"}, "query has U+FFFE at character 0"),
        ("explore_neighbors", {"node": "a", "direction": "up"}, "direction is not one of out, in, both"),
        ("remember", {"content": "a" * 1_000_000}, "content is longer than 65536 characters"),
        ("remember", {"content": "a", "tags": ["b", 5]}, "tags[1] is not of type string"),
        ("remember", {"content": "a", "tags": ["b"] * 65}, "tags has more than 64 items"),
        ("remember", {"content": "a", "tags": ["b\0"]}, "tags has U+0000 at character 1"),
        ("revise", {"id": "abcd"}, "give at least one of content, title, tags"),
        ("tag", {"id": "abcd"}, "give at least one of add, remove"),
        ("forget", {"id": "abcd"}, "reason missing"),
        ("status", {"claims": ["atom"] * 17}, "claims has more than 16 items"),
        ("recall", {"query": "a", "filter": "tag"}, "'tag' in the filter is not name:value"),
        (
            "recent",
            {"atom": "abcd", "filter": "tag:x"},
            "with atom, the filter may only have the term as_of:",
        ),
        ("find", {"query": "a", "from": "abcd"}, "give `query` or `from`, not both"),
        ("find", {"follow": "uses"}, "`follow` needs an atom to start from: give `from`"),
    ],
)
def test_a_wrong_argument_is_named(
    memory: Memory, tool: str, arguments: dict[str, Any], message: str
) -> None:
    """The message names the argument and the reason, and nothing is written."""
    size = memory.engine.size
    answer = memory.call(tool, **arguments)
    assert (answer.error["code"], answer.error["message"]) == ("invalid", message)
    assert memory.engine.size == size


SCHEMAS = st.sampled_from([tool.input for name in MODULES for tool in profile_of(name).tools])


@st.composite
def arguments(draw: st.DrawFn, schema: dict[str, Any]) -> Any:
    """Return a value that often passes the schema, and often fails in one place."""
    if draw(st.integers(0, 9)) == 0:
        return draw(JSON)
    match schema.get("type"):
        case "object":
            names = draw(st.sets(st.sampled_from([*schema["properties"], "other"])))
            names |= set(schema.get("required", ())) if draw(st.booleans()) else set()
            rules = {"other": {}, **schema["properties"]}
            return {name: draw(arguments(rules[name])) for name in sorted(names)}
        case "array":
            return draw(st.lists(arguments(schema["items"]), max_size=3)) * draw(st.sampled_from([1, 1, 40]))
        case "string":
            return "a" * draw(st.integers(0, 2) | st.just(schema["maxLength"] + 1))
        case "integer":
            bounds = schema["minimum"], schema["maximum"]
            return draw(st.integers(bounds[0] - 1, bounds[1] + 1)) * draw(st.sampled_from([1, 1.0]))
        case _:
            return draw(st.booleans() | st.sampled_from(schema.get("enum", [None])))


@given(st.data())
def test_what_json_schema_accepts_is_accepted(data: st.DataObject) -> None:
    """A call is refused if and only if JSON Schema refuses it; the message names the place of an error."""
    schema = data.draw(SCHEMAS)
    given_arguments = data.draw(arguments(schema).filter(lambda value: isinstance(value, dict)))
    assume("\\u" not in json.dumps(given_arguments) and "\x00" not in str(given_arguments))
    best = best_match(Draft202012Validator(schema).iter_errors(given_arguments))
    if best is None:
        assert given_arguments.items() <= checked(schema, given_arguments).items()
        return
    with pytest.raises(InvalidInputError) as refused:
        checked(schema, given_arguments)
    steps = [f"[{step}]" if isinstance(step, int) else str(step) for step in best.absolute_path]
    assert all(step in str(refused.value) for step in steps)


def test_a_lone_surrogate_is_refused_at_the_border() -> None:
    """A lone surrogate is refused even if the JSON parser let it through."""
    with pytest.raises(InvalidInputError, match=r"query has U\+D800 at character 1"):
        checked(RECALL.input, {"query": "a\ud800"})


def test_a_refusal_never_repeats_at_length_what_was_given(memory: Memory) -> None:
    """The error is short, however long a name or a value is."""
    for arguments in ({"query": "a" * 100_000}, {"b" * 100_000: 1, "query": "a"}, {"query": ["c"] * 10_000}):
        answer = memory.call("explore_recall", **arguments)
        assert answer.is_error
        assert len(answer.text) < 500


def fails(problem: Exception) -> Profile:
    """Return a profile with one tool that raises."""

    def run(engine: Engine, arguments: dict[str, Any]) -> dict[str, Any]:
        raise problem

    return Profile("test", "", (Tool("fails", "", {"type": "object"}, run, {"type": "object"}),))


def test_an_error_of_the_engine_says_what_to_do(memory: Memory) -> None:
    """The answer has the code, message and hint of the error."""
    broken = Memory(memory.engine, fails(EngineError("it <b>broke</b>", hint="mend it")))
    answer = broken.call("fails")
    assert answer.error == {"code": "failure", "message": "it <b>broke</b>", "hint": "mend it"}
    assert "<" not in answer.text


def test_an_unexpected_error_shows_nothing_of_the_inside(
    memory: Memory, caplog: pytest.LogCaptureFixture
) -> None:
    """The client learns only that the call failed; the log has the traceback."""
    broken = Memory(memory.engine, fails(RuntimeError("/secret/path is odd")))
    with caplog.at_level(logging.ERROR):
        answer = broken.call("fails")
    assert answer.error["code"] == "unexpected"
    assert "secret" not in answer.text
    assert "/secret/path is odd" in caplog.text


def test_a_damaged_store_is_an_error_of_the_call(memory: Memory) -> None:
    """The error names the damage, and the server continues."""
    broken = Memory(memory.engine, fails(CorruptionError("row 5 is no record", hint="copy the files")))
    assert broken.call("fails").error["code"] == "corrupt"


def test_an_unknown_tool_is_an_error_of_the_protocol(memory: Memory) -> None:
    """An unknown tool is a protocol error, not an answer of a tool."""
    from mcp import MCPError

    with pytest.raises(MCPError, match="there is no tool 'eval'"):
        memory.call("eval")


NEVER_RAW = re.compile("<[A-Za-z/|!?]|[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")


@pytest.mark.parametrize("step", often(5, 1))
def test_naughty_strings_come_back_as_they_are_and_harmless(step: int) -> None:
    """Each string is stored or refused; no verb returns markup, controls or forged lines.

    Every fifth string is tried, or all of them in a long run.
    """
    naughty = json.loads(needs("vectors/strings/blns.json").read_text(encoding="utf-8"))[::step]
    with Engine.open("memory:") as engine:
        memory = Memory(engine)
        kept = {}
        for text, answer in zip(
            naughty, memory.answers(*(("remember", {"content": text}) for text in naughty)), strict=True
        ):
            assert not NEVER_RAW.search(answer.text)
            if not answer.is_error:
                kept[text] = answer.fields["id"]
        assert len(kept) > 480 // step
        looked = memory.answers(*(("explore_expand", {"id": atom}) for atom in kept.values()))
        assert all(
            answer.text.startswith(f"[{atom[:8]}]\n")
            for answer, atom in zip(looked, kept.values(), strict=True)
        )
        asked: list[tuple[str, dict[str, Any]]] = []
        for text, atom in kept.items():
            asked += [
                ("explore_recall", {"query": text}),
                ("explore_peek", {"id": atom, "query": text}),
                ("explore_neighbors", {"node": text[:256]}),
                ("recall", {"query": text}),
                ("explore", {"query": text}),
                ("recent", {"atom": atom}),
            ]
        for answer in [*looked, *memory.answers(*asked)]:
            assert_harmless(answer)


def assert_harmless(answer: Answer) -> None:
    """Check that the text has no markup and no control characters, and that generated lines stand out."""
    assert not NEVER_RAW.search(answer.text)
    first = re.compile(r"error |hint: " if answer.is_error else r"\[[^]]+\]|  |nothing found$|$")
    for line in answer.text.split("\n"):
        assert first.match(line), answer.text
    if answer.is_error:
        assert answer.error["code"] in {"invalid", "limit", "not_found", "conflict"}
