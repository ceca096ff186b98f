"""The cost of an atom in a prompt, and the safety of its text form."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.cli.shown_parts import shown
from engine.query.prompt_text import ID_DIGITS, body, body_within, heading, hit_text, subheading, tokens_of
from tests.query.context.support import HOSTILE, contents, id_of
from tests.support.shared_data import needs

lines = st.one_of(st.none(), st.sampled_from(HOSTILE), st.text(min_size=1))
sequences = st.one_of(st.none(), st.integers(0, 2**63 - 1))


def test_an_atom_is_a_heading_and_indented_lines() -> None:
    """The heading has the first digits of the id, the sequence, source and title."""
    text = hit_text(
        "Kettle", "tea.md", 17, "1f0c2a3b-9a2e-4000-8000-000000000001", "Descaled\n\n  on Mondays."
    )
    assert text == "[1f0c2a3b 17] tea.md | Kettle\n  Descaled\n\n    on Mondays.\n"


def test_blank_lines_at_both_ends_are_left_out() -> None:
    """Content begins on the line after its heading, and ends right before the next heading."""
    assert (
        hit_text(None, None, None, "1f0c2a3b", "\n \r\n one\n\n two \n\t\n")
        == "[1f0c2a3b]\n   one\n\n   two\n"
    )


@pytest.mark.parametrize(
    ("title", "source", "sequence", "expected"),
    [
        (None, None, None, "[1f0c2a3b]"),
        (None, None, 3, "[1f0c2a3b]"),
        ("Kettle", None, 3, "[1f0c2a3b] | Kettle"),
        (None, "tea.md", None, "[1f0c2a3b] tea.md"),
        ("Kettle", "tea.md", 3, "[1f0c2a3b 3] tea.md | Kettle"),
    ],
)
def test_a_heading_leaves_out_what_there_is_not(
    title: str | None, source: str | None, sequence: int | None, expected: str
) -> None:
    """Missing fields are left out; a sequence is only shown with a source."""
    assert heading(title, source, sequence, sequence, "1f0c2a3b-9a2e") == expected


@given(lines, lines, sequences, contents)
def test_nothing_forges_a_heading(
    title: str | None, source: str | None, sequence: int | None, content: str
) -> None:
    """All lines but the first begin with two spaces or are empty, for any atom."""
    text = hit_text(title, source, sequence, id_of(1), content)
    first, *rest = text.removesuffix("\n").split("\n")
    assert first.startswith(f"[{id_of(1)[:ID_DIGITS]}")
    assert [line for line in rest if line and not line.startswith("  ")] == []
    assert text.splitlines() == [first, *rest]


@given(lines, st.sampled_from(("tea.md | Kettle", "tea.md", "a|b", "[1f0c2a3b 3] tea.md")))
def test_a_source_ends_at_the_first_bar(title: str | None, source: str) -> None:
    """A source with a bar cannot look like another source with a title."""
    shown_source = heading(title, source, 3, 3, id_of(1)).partition("] ")[2].partition("|")[0].strip()
    assert shown_source == source.replace("|", "¦")


@given(lines, lines, contents)
def test_a_terminal_obeys_nothing_of_it(title: str | None, source: str | None, content: str) -> None:
    """The text contains no control characters that a terminal would interpret."""
    text = hit_text(title, source, 3, id_of(1), content) + subheading(title)
    assert shown(text) == text


@given(st.lists(st.tuples(lines, lines, contents), max_size=4))
def test_several_cost_at_most_the_sum(atoms: list[tuple[str | None, str | None, str]]) -> None:
    """Several texts cost at most the sum of their costs."""
    texts = [hit_text(title, source, 3, id_of(1), content) for title, source, content in atoms]
    assert tokens_of("".join(texts)) <= sum(map(tokens_of, texts))


@given(lines, contents)
@example(None, "日")
def test_a_heading_and_bodies_cost_what_their_lines_cost(title: str | None, content: str) -> None:
    """The parts of a window cost at most their sum, and exactly that for ASCII."""
    parts = [heading(title, "tea.md", 1, 2, id_of(1)), body(content), subheading(title), body(content), "\n"]
    whole, apart = tokens_of("".join(parts)), sum(map(tokens_of, parts))
    assert whole <= apart
    assert whole == apart or not "".join(parts).isascii()


@given(contents, st.integers(-1, 200))
def test_a_cut_content_keeps_its_budget(content: str, tokens: int) -> None:
    """A cut content keeps to its budget, and is whole if the budget is large enough."""
    cut = body_within(content, tokens)
    assert tokens_of(cut) <= max(tokens, 0)
    assert (cut == body(content)) == (tokens_of(body(content)) <= tokens)


@pytest.mark.parametrize(
    "content", ["kettle kettle Monday", "kettle" + " " * 300 + "Monday", "\u65e5" * 9, "x\n" * 9]
)
def test_a_content_is_whole_from_its_cost_on(content: str) -> None:
    """A content is cut at one token less than its cost, however many characters a token has."""
    whole = body(content)
    assert body_within(content, tokens_of(whole)) == whole
    assert body_within(content, tokens_of(whole) - 1).endswith("…")


@given(contents, st.integers(3, 200), st.integers(3, 200))
def test_more_tokens_show_more(content: str, one: int, other: int) -> None:
    """The text for a budget is a beginning of the text for a larger one."""
    small, large = sorted((one, other))
    assert body_within(content, large).startswith(body_within(content, small).removesuffix("…").rstrip())


def test_a_cut_is_after_a_word_and_marked() -> None:
    """A text is cut between two words, and within one only if necessary."""
    assert body_within("the quick brown fox jumps", 5) == "\n  the quick…"
    assert body_within("x" * 100, 5) == "\n  xxxxxxxxxxxx…"
    assert body_within("a b " + "x" * 100, 9).startswith("\n  a b xxxxxxxx")


def test_an_accent_stays_with_its_letter() -> None:
    """A cut does not separate a letter from its combining marks."""
    assert body_within("e\u0301" * 50, 6) in {"\n  " + "e\u0301" * count + "…" for count in range(50)}


def test_naughty_strings_forge_nothing() -> None:
    """Each of the Big List of Naughty Strings gives one heading and keeps to its budget."""
    path = needs("vectors/strings/blns.json")
    naughty = [text for text in json.loads(path.read_text(encoding="utf-8")) if text.strip()]
    assert naughty
    for text in naughty:
        told = hit_text(text, text, 3, id_of(1), text)
        assert [line[:1] for line in told.splitlines() if line[:1] not in {"", " "}] == ["["]
        assert shown(told) == told
        assert tokens_of(body_within(text, 8)) <= 8
