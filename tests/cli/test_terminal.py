"""Tables and progress bars on a terminal."""

from __future__ import annotations

import pytest

from engine.cli.shown_parts import Table
from engine.cli.terminal import Bar, cells, show


@pytest.mark.parametrize(
    ("text", "columns"), [("tea", 3), ("東京", 4), ("e\u0301", 1), ("ｔ", 2), ("a\u200bb", 2), ("", 0)]
)
def test_the_width_of_a_text_is_that_on_the_terminal(text: str, columns: int) -> None:
    """Wide characters take up two columns, and combining ones no column."""
    assert cells(text) == columns


def test_columns_of_a_table_are_aligned(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each cell is as wide as the widest one of its column; without styles under NO_COLOR."""
    monkeypatch.setenv("NO_COLOR", "1")
    show(Table(("name", "n"), [("東京", "1"), ("kettle", "2")]))
    assert capsys.readouterr().out == "name    n\n東京    1\nkettle  2\n"


def test_a_bar_stays_on_one_line_and_is_removed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """A bar is cut to the width of the terminal, escapes what could control it, and leaves nothing."""
    monkeypatch.setenv("COLUMNS", "30")
    bar = Bar()
    bar.move(5, 5, "replayed\n\x1b[2J" + "x" * 100)
    drawn = capsys.readouterr().err.removeprefix("\r\x1b[K")
    assert cells(drawn) == 29
    assert drawn.startswith("replayed\\n\\x1b[2J")
    bar.close()
    assert capsys.readouterr().err == "\r\x1b[K"
