"""The content of an atom is recovered from its block on a page, as a person left it."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.files.mirror.mirror_text import body
from engine.files.mirror.page_edits import UnclearBlockError, content_of

PROSE, FENCED, ESCAPED = "Plain prose.", "# Oak\n\nThe oak.", "An oak \u202e.\n"
LETTERS = st.sampled_from(
    ["a", " ", "\n", "`", "```", "\n```\n", "~~~", "\u27e8", "\u202e", "#", "U+202E\u27e9", "\t", "text"]
)


@given(st.one_of(st.text(max_size=60), st.lists(LETTERS, max_size=12).map("".join)).filter(str.strip))
@example("```text\n# Oak\n```")
@example("\u27e8U+202E\u27e9")
@example("\u27e8U+202E\u27e9 \u202e")
@example("a\n")
def test_an_unedited_block_gives_its_content(content: str) -> None:
    """The content of an unedited block is the content that was written, exactly."""
    assert content_of(body(content), body(content)) == content


CASES = {
    "appended to prose": (PROSE, "Plain prose.\n\nMore.", "Plain prose.\n\nMore."),
    "blank lines around prose": (PROSE, "\n\nPlain prose!\n \n", "Plain prose!"),
    "prose that became code": (PROSE, "```text\ncode\n```", "```text\ncode\n```"),
    "in the fence": (FENCED, "```text\n# Oak\n\nAn oak. \n\n```", "# Oak\n\nAn oak. \n"),
    "after the fence": (FENCED, "```text\n# Oak\n```\n\nMore.\n", "# Oak\n\nMore."),
    "before the fence": (FENCED, "More.\n\n```text\n# Oak\n```", "More.\n\n# Oak"),
    "without the fence": (FENCED, "# Oak\n\nAn oak.", "# Oak\n\nAn oak."),
    "code in the fence": (FENCED, "```text\na\n```py\nb\n```\nc\n```", "a\n```py\nb\n```\nc"),
    "plain code in the fence": (FENCED, "```text\na\n```\nb\n```\nc\n```", "a\n```\nb\n```\nc"),
    "code after the fence": (FENCED, "```text\na\n```\n\n```py\nb\n```", "a\n\n```py\nb\n```"),
    "plain code after the same text": (
        FENCED, "```text\n# Oak\n\nThe oak.\n```\n\n```\nb\n```", "# Oak\n\nThe oak.\n\n```\nb\n```"
    ),
    "a longer fence": (FENCED, "````text\na\n```\nb\n````", "a\n```\nb"),
    "a mark that was written out": (ESCAPED, "```escaped\nAn \u27e8U+202E\u27e9!\n```", "An \u202e!"),
    "an angle bracket": (ESCAPED, "```escaped\n\u27e8 \u27e8U+D800\u27e9\n```", "\u27e8 \u27e8U+D800\u27e9"),
}  # fmt: skip


@pytest.mark.parametrize("what", CASES)
def test_an_edited_block_gives_the_text_of_the_person(what: str) -> None:
    """Only the two lines of the fence, and blank lines around the text, are left out."""
    content, edited, wanted = CASES[what]
    assert content_of(edited, body(content)) == wanted


@pytest.mark.parametrize(
    "edited",
    [
        "```text\n# Oak",
        "# Oak\n```",
        "```text\na\n```\n\nb\n```\nc\n```",
        "```text\na\n```\nb\n```",
        "```py\na\n\n```text\n# Oak\n```",
    ],
)
def test_an_unclear_block_is_refused(edited: str) -> None:
    """A block whose fence is incomplete, or has two possible ends, is refused."""
    with pytest.raises(UnclearBlockError):
        content_of(edited, body(FENCED))
