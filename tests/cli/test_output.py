"""Output never contains control characters, and JSON is exact."""

import json
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.json_text import dumped
from engine.cli.shown_parts import shown
from engine.files.ingest.field_values import content_problem
from tests.support.command_line import Cli
from tests.support.shared_data import needs

ANY_TEXT = st.text(st.characters(codec=None, exclude_categories=()), max_size=40)
BIDI = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"


def dangerous(text: str) -> list[str]:
    """Return the characters of `text` that can control a terminal."""
    return [
        character
        for character in text
        if (unicodedata.category(character) == "Cc" and character not in "\n\t") or character in BIDI
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("a\x00b\x07\x7f", "a\\x00b\\x07\\x7f"),
        ("\x9b2J", "\\x9b2J"),
        ("a\u202eb\u2066", "a\\u202eb\\u2066"),
        ("\udcff", "\\udcff"),
        ("line\r\nline", "line\\x0d\nline"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("Zürich 東京 🏴‍☠️ \\x1b", "Zürich 東京 🏴‍☠️ \\x1b"),
    ],
)
def test_control_characters_are_shown_escaped(text: str, expected: str) -> None:
    """C0 except newline and tab, DEL, C1, bidi controls and surrogates are escaped; the rest is not."""
    assert shown(text) == expected


def test_a_line_stays_a_line() -> None:
    """In a line, line breaks and tabs are escaped, too."""
    assert shown("a\nb\tc\u2028d", line=True) == "a\\nb\\tc\\u2028d"


@given(ANY_TEXT)
def test_nothing_dangerous_is_shown(text: str) -> None:
    """For every text, the escaped text has no dangerous characters and can be encoded."""
    assert dangerous(shown(text)) == []
    assert shown(text).encode().decode() == shown(text)


@given(ANY_TEXT)
def test_json_is_harmless_and_exact(text: str) -> None:
    """JSON output decodes to the exact text and has no dangerous characters."""
    spelled = dumped({"text": text}, spaces=True)
    assert json.loads(spelled) == {"text": text}
    assert dangerous(spelled) == []
    assert "\n" not in spelled


@given(ANY_TEXT)
def test_json_for_an_ascii_stream_is_ascii(text: str) -> None:
    """If stdout is not Unicode, the JSON is ASCII with the same content."""
    spelled = dumped(text, spaces=True, ascii_only=True)
    assert spelled.isascii()
    assert json.loads(spelled) == text


def test_naughty_strings_pass_through(cli: Cli) -> None:
    """Every naughty string that the store accepts is harmless as text and exact as JSON."""
    strings = json.loads(needs("vectors/strings/blns.json").read_text(encoding="utf-8"))
    together = "\n".join(text for text in strings if text.strip() and content_problem(text) is None)
    added = cli("-q", "add", "-", stdin=together.encode())
    assert added.code == 0, added.err
    text = cli("get", added.out.strip()).out
    assert dangerous(text) == []
    assert cli("get", added.out.strip(), "--json").data["content"] == together


@pytest.mark.parametrize("command", ["get", "history", "recall", "find", "log"])
def test_markup_and_escapes_in_a_content_are_text(
    cli: Cli, command: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Markup, emoji codes and escape sequences in content are printed literally."""
    content = "[bold red]kettle[/] :smile: \x1b[2J {0} %s"
    atom = cli("add", content).out.strip()
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "300")
    arguments = {"get": [atom], "history": [atom], "recall": ["kettle"]}.get(command, [])
    shown_text = cli(command, *arguments).out
    assert "[bold red]kettle[/] :smile:" in shown_text
    assert "\x1b[2J" not in shown_text


def test_an_error_message_is_escaped(cli: Cli) -> None:
    """Arguments quoted in error messages are escaped."""
    cli("init")
    result = cli("get", "\x1b[2Jnothing\nerror: forged")
    assert result.code == 2
    assert dangerous(result.err) == []
    assert result.err.count("\nerror") == 0
