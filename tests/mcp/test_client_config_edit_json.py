"""One member is added to a JSON text, and nothing else of the text changes."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import ConflictError, InvalidInputError
from engine.mcp.client_config_edit import with_member

PATH = ["mcpServers", "memory"]
ENTRY = {"command": "/bin/engine", "args": ["mcp"]}

SETTINGS = """\
// Settings, written by hand.
{
  "theme": "dark", // "a": {
  /* "mcpServers": {}, */
  "url": "http://example.org/*", // not a comment before this one
  "mcpServers": {
    // The servers.
    "git": {
      "command": "git, mcp",
    }, // kept
    // "old": {}
  },
  "last": [1, 2,],
}
"""

CASES = {
    "nothing": ("", '{\n  "mcpServers": {\n    "memory": {'),
    "an empty object": ("{}", '{\n  "mcpServers": {\n    "memory": {'),
    "only a comment": ("// mine", '// mine\n{\n  "mcpServers": {'),
    "an empty object with a comment": ("{\n  // mine\n}\n", '{\n  // mine\n  "mcpServers": {'),
    "another member": ('{"a": 1}', '{"a": 1,\n  "mcpServers": {'),
    "a comment behind": ('{\n  "a": 1 // one, two\n}', '{\n  "a": 1, // one, two\n  "mcpServers": {'),
    "a comma behind": ('{\n  "a": 1, // one\n}', '{\n  "a": 1, // one\n  "mcpServers": {'),
    "tabs": ('{\n\t"mcpServers": {\n\t}\n}', '\t"mcpServers": {\n\t\t"memory": {\n\t\t\t"command"'),
    "a byte order mark": ('\ufeff{"a": 1}', '\ufeff{"a": 1,\n  "mcpServers": {'),
    "carriage returns": ('{\r\n    "a": 1\r\n}\r\n', '"a": 1,\r\n    "mcpServers": {\r\n        "memory": {'),
    "settings": (
        SETTINGS,
        '    }, // kept\n    // "old": {}\n    "memory": {\n      "command": "/bin/engine",',
    ),
}


def value_of(text: str) -> Any:
    """Return the value of a text in which the places of comments and surplus commas are known."""
    plain = re.sub(
        r'("(?:[^"\\]|\\.)*")|//[^\n]*|/\*.*?\*/', lambda found: found[1] or " ", text, flags=re.DOTALL
    )
    plain = re.sub(r'("(?:[^"\\]|\\.)*")|,(?=\s*[}\]])', lambda found: found[1] or " ", plain)
    return json.loads(plain.removeprefix("\ufeff").strip() or "{}")


def expected(text: str) -> Any:
    """Return the value that the text must have after the entry was added."""
    value = value_of(text)
    return {**value, "mcpServers": {**value.get("mcpServers", {}), "memory": ENTRY}}


@pytest.mark.parametrize(("text", "part"), CASES.values(), ids=CASES)
def test_a_member_is_added_in_the_layout_of_the_text(text: str, part: str) -> None:
    """The new lines follow the indentation of the text, and comments stay where they are."""
    after = with_member(text, PATH, ENTRY)
    assert part in after
    assert value_of(after) == expected(text)


@pytest.mark.parametrize("text", [text for text, _ in CASES.values()], ids=CASES)
def test_no_line_is_lost(text: str) -> None:
    """Each line of the text stays, perhaps with an added comma, and the order is the same."""
    left = iter(with_member(text, PATH, ENTRY).splitlines())
    for line in text.splitlines():
        kept = line.rstrip("}{").rstrip()
        assert any(kept in other or kept.replace("1 //", "1, //") in other for other in left), line


def test_adding_twice_changes_nothing() -> None:
    """An equal entry is left as it is written."""
    after = with_member(SETTINGS, PATH, ENTRY)
    assert with_member(after, PATH, ENTRY) == after


def test_a_different_entry_is_replaced_only_if_asked() -> None:
    """Without `replace`, a different entry is a conflict; with it, only this entry changes."""
    before = with_member(SETTINGS, PATH, {"command": "other"})
    with pytest.raises(ConflictError, match=r"mcpServers\.memory"):
        with_member(before, PATH, ENTRY)
    assert with_member(before, PATH, ENTRY, replace=True) == with_member(SETTINGS, PATH, ENTRY)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ('{"a": 1', "line 1, column 8"),
        ('{\n  "a" 1\n}', "line 2, column 7"),
        ("{} {}", "line 1, column 4: not JSON: unexpected"),
        ('{"a": "b\n"}', "line 1, column 9"),
        ('{/* "a": 1}', "line 1, column 2"),
        ('{"a": {,}}', "line 1, column 8"),
        ('{"a": [1,,]}', "line 1, column 10"),
        ("[]", "the JSON text is not an object"),
        ("1", "the JSON text is not an object"),
        ('{"mcpServers": []}', "mcpServers is not an object"),
        ('{"mcpServers": {}, "mcpServers": {}}', "occurs twice"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_malformed_text_is_refused(text: str, match: str) -> None:
    """The error says where the text is malformed."""
    with pytest.raises(InvalidInputError, match=match):
        with_member(text, PATH, ENTRY)


NAMES = st.text('a/*,"\\\n{}é', max_size=4) | st.just("mcpServers")
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text('a/*,"\\\n{}[]:é😀\x00\ud800', max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)
SERVERS = st.dictionaries(st.sampled_from(["git", "a/*b", '"']), VALUES, max_size=3)
OBJECTS = st.builds(
    lambda value, servers: {**value, "mcpServers": servers},
    st.dictionaries(NAMES, VALUES, max_size=3),
    SERVERS,
) | st.dictionaries(NAMES.filter(lambda name: name != "mcpServers"), VALUES, max_size=3)


@given(OBJECTS, st.sampled_from([None, 1, 2, "\t"]), st.booleans())
def test_every_other_value_is_kept(value: dict[str, Any], indent: int | str | None, ascii_only: bool) -> None:
    """For every JSON object in every layout, the entry is added, and all else is equal and in order."""
    after = json.loads(with_member(json.dumps(value, indent=indent, ensure_ascii=ascii_only), PATH, ENTRY))
    assert after == {**value, "mcpServers": {**value.get("mcpServers", {}), "memory": ENTRY}}
    assert list(after)[: len(value)] == list(value)
