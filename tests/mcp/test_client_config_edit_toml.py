"""One table is added to a TOML text, and nothing else of the text changes."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from engine.base.errors import ConflictError, InvalidInputError, RefusedError
from engine.mcp.client_config_edit import with_table

PATH = ["mcp_servers", "memory"]
ENTRY: dict[str, Any] = {
    "command": '/bin/"engine" é\x7f\\',
    "args": ["mcp", "--read-only"],
    "env": {"ENGINE_STORE": "leveldb:/notes"},
}
CONFIG = """\
# Written by hand.
model = "o4" # the model

[mcp_servers.git]
command = "git"

# About the profiles.
[[profiles]]
text = '''
[mcp_servers.memory]
'''
"""


@pytest.mark.parametrize(
    "text", ["", CONFIG, CONFIG.rstrip("\n"), CONFIG.replace("\n", "\r\n"), "[mcp_servers]"]
)
def test_a_table_is_added_at_the_end(text: str) -> None:
    """The text before it is unchanged, and the value is exact."""
    after = with_table(text, PATH, ENTRY)
    assert after.startswith(text.rstrip())
    value = tomllib.loads(text)
    assert tomllib.loads(after) == {
        **value,
        "mcp_servers": {**value.get("mcp_servers", {}), "memory": ENTRY},
    }
    assert with_table(after, PATH, ENTRY) == after


def test_a_table_is_replaced_only_if_asked() -> None:
    """All lines of the old table and its subtables are removed; comments before the next table stay."""
    old = (
        '[mcp_servers.memory] # old\ncommand = "x"\n\n[mcp_servers."memory".env]\nA = "b"\n\n'
        "# Next.\n[next]\na = 1\n\n[ mcp_servers . memory . tools . x ]\napproval = true\n"
    )
    with pytest.raises(ConflictError, match=r"mcp_servers\.memory"):
        with_table(old, PATH, ENTRY)
    after = with_table(old, PATH, ENTRY, replace=True)
    assert after.startswith("\n# Next.\n[next]\na = 1\n\n[mcp_servers.memory]\n")
    assert tomllib.loads(after) == {"next": {"a": 1}, "mcp_servers": {"memory": ENTRY}}


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { git = { command = "git" } }',
        '[mcp_servers]\nmemory = { command = "x" }',
        '[mcp_servers]\nmemory.command = "x"',
    ],
)
def test_what_cannot_be_changed_safely_is_refused(text: str) -> None:
    """A table that has no header line is not changed."""
    with pytest.raises(RefusedError, match=r"mcp_servers\.memory"):
        with_table(text, PATH, ENTRY, replace=True)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("a = \nb = 1", "line 1, column 5"),
        ("a = 1\na = 2\n\n", "line 2"),
        ("mcp_servers = 1", "mcp_servers is not a table"),
    ],
)
def test_a_malformed_text_is_refused(text: str, match: str) -> None:
    """The error says where the text is malformed."""
    with pytest.raises(InvalidInputError, match=match):
        with_table(text, PATH, ENTRY)
