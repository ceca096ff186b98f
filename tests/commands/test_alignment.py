"""Aligning the pieces of a file with the texts that the file contained before."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.commands.alignment import Passage, align
from engine.commands.words import WordIndex, words_of

OAK = "The oak beside the gate was planted in the year of the flood."
ASH = "An ash grows faster than most people think, above all in wet ground."
ELM = "Elms died everywhere; the last one stands behind the church."
NEW = "Quite different words about bread, yeast and ovens in our kitchen."


def passages(*contents: str) -> list[Passage]:
    """Return passages without titles."""
    return [Passage(content, None) for content in contents]


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ([OAK, ASH], [OAK, ASH], [0, 1]),
        ([OAK, ASH], [ASH, OAK], [1, 0]),
        ([OAK, ASH, ELM], [OAK, ASH.replace("faster", "slower"), ELM], [0, 1, 2]),
        ([OAK, ASH], [OAK, NEW, ASH], [0, None, 1]),
        ([OAK, ASH, ELM], [OAK, ELM], [0, 2]),
        ([OAK], [NEW], [None]),
        ([OAK, OAK], [OAK, OAK, OAK], [0, 1, None]),
        ([ASH, OAK], [OAK, ASH, OAK], [None, 0, 1]),
        ([OAK, ASH, OAK], [ASH, OAK], [1, 2]),
        ([OAK, ASH, ELM], [ELM, OAK, ASH.replace("faster", "slower")], [2, 0, 1]),
        ([f"{OAK} {ASH}"], [OAK, ASH], [0, None]),
        ([f"{OAK} {ASH} {ELM} {NEW}"], [OAK, ASH], [0, None]),
        (
            [OAK, ASH, ELM],
            [OAK, "An ash grows fast, as many people know who plant it in wet ground.", ELM],
            [0, 1, 2],
        ),
        (
            [OAK, "one two three four five six seven eight", "i j k l m n o p", ELM],
            [OAK, "one two three four five 6 7 8", "i j k l m N O P", ELM],
            [0, 1, 2, 3],
        ),
        ([OAK, ASH], [f"{OAK} {ASH}"], [0]),
        (["blue pot"], ["blue pots"], [0]),
        ([], [OAK], [None]),
        ([OAK], [], []),
    ],
)
def test_a_piece_continues_the_text_that_it_was(
    before: list[str], after: list[str], expected: list[int | None]
) -> None:
    """Equal, edited, moved, split and joined texts are aligned; new texts are not."""
    assert align(passages(*before), passages(*after)) == expected


def test_a_rewritten_section_continues_the_section_with_its_heading() -> None:
    """A title that occurs once makes up for a text of which little is left."""
    known = [Passage("# Oak\n\nPlanted in spring.", "Oak"), Passage("# Ash\n\nCut in winter.", "Ash")]
    wanted = [
        Passage("# Ash\n\nWe sold it to a joiner in town.", "Ash"),
        Passage("# Oak\n\nIt fell in a storm.", "Oak"),
    ]
    assert align(known[:1], wanted[1:]) == [0]
    long = Passage("# Oak\n\n" + " ".join(f"old{number}" for number in range(12)), "Oak")
    rewritten = Passage("# Oak\n\n" + " ".join(f"new{number}" for number in range(12)), "Oak")
    assert align([long], [rewritten]) == [0]
    assert align([long._replace(title=None)], [rewritten]) == [None]


def test_a_text_that_the_file_lost_is_continued_only_by_an_equal_text() -> None:
    """A similar text does not continue a text that the file lost earlier."""
    lost = Passage(OAK, None, is_present=False)
    assert align([lost], passages(OAK)) == [0]
    assert align([lost, Passage(OAK, None)], passages(OAK)) == [1]
    assert align([lost, Passage(OAK, None)], passages(OAK, OAK, OAK)) == [1, 0, None]
    assert align([lost], passages(OAK.replace("gate", "door"))) == [None]


def test_the_index_of_words_finds_similar_texts_only() -> None:
    """A text with one other word is found among different texts, and a different text is not."""
    index = WordIndex([words_of(ASH), words_of(OAK)], 0.75)
    assert [at for _, at in index.similar(words_of(OAK.replace("gate", "well")))] == [1]
    assert list(index.similar(words_of("none"))) == []


TEXTS = st.lists(
    st.sampled_from(["a b c d e f", "a b c d e g", "x y z", "x y w", "q", "", "a b c"]), max_size=12
)


@given(TEXTS, TEXTS)
def test_no_text_is_continued_twice(before: list[str], after: list[str]) -> None:
    """Each known passage is aligned at most once, and equal texts are aligned first."""
    found = align(passages(*before), passages(*after))
    used = [index for index in found if index is not None]
    assert len(used) == len(set(used))
    assert len(found) == len(after)
    for content in set(before) & set(after):
        exact = sum(
            1 for at, index in enumerate(found) if index is not None and before[index] == after[at] == content
        )
        assert exact == min(before.count(content), after.count(content))


@given(TEXTS)
def test_an_unchanged_file_changes_nothing(texts: list[str]) -> None:
    """Every passage of an unchanged file continues itself."""
    found = align(passages(*texts), passages(*texts))
    assert [texts[index] for index in found if index is not None] == texts


def test_a_long_rewritten_file_is_compared_near_the_diagonal_only() -> None:
    """A thousand edited passages are aligned with the passages at the same places."""
    before = [
        f"Section {number} says that the value is {number * 7} and nothing else." for number in range(1000)
    ]
    after = [text.replace("nothing", "something") for text in before]
    assert align(passages(*before), passages(*after)) == list(range(1000))


DISTINCT = st.lists(
    st.lists(st.integers(0, 999), min_size=8, max_size=12, unique=True), min_size=1, max_size=8
).map(lambda rows: [[f"{at}-{word}" for word in words] for at, words in enumerate(rows)])


@given(DISTINCT, st.data())
def test_a_changed_word_never_changes_which_text_a_piece_continues(
    texts: list[list[str]], data: st.DataObject
) -> None:
    """With a word changed in some texts, and one text moved, every piece continues its own text."""
    before = passages(*map(" ".join, texts))
    order = list(range(len(texts)))
    order.insert(data.draw(st.integers(0, len(order) - 1)), order.pop(data.draw(st.sampled_from(order))))
    after = [list(words) for words in texts]
    for at in data.draw(st.sets(st.sampled_from(order))):
        after[at][data.draw(st.integers(0, len(after[at]) - 1))] = "changed"
    assert align(before, passages(*(" ".join(after[at]) for at in order))) == order
