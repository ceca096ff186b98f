"""Signals from an atom's own text and fields, each of which alone decides the order of two atoms."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from engine.commands import Command
from tests.query.recall.support import NO_SIGNALS, ask, fillers, keys, named, only
from tests.support.engines import BEGIN

DAY = 86_400 * 1_000_000


def decided(signal: str, commands: Sequence[Command], question: str, **weights: float) -> list[str | None]:
    """The first hit without any signal, and with this one."""
    off = ask(commands, question, only("head", head=0.0))
    on = ask(commands, question, only(signal, **weights))
    return [keys(off.hits)[0], keys(on.hits)[0]]


def test_a_word_in_a_title_counts_more_than_one_in_the_text() -> None:
    """`head`: BM25F with the title as the heavier field."""
    atoms = [
        named("text", "The kettle, that kettle in the kitchen."),
        named("title", "Bring it to the shop on Monday.", title="Kettle repairs"),
    ]
    assert decided("head", atoms, "kettle") == ["text", "title"]


def test_a_word_in_a_speaker_s_label_counts_as_in_a_title() -> None:
    """`head`: the label of a speaker has the same weight as a title."""
    atoms = [
        named("about", "It was Anna, and Anna again, who wanted this."),
        named("by", "Anna: paint the garage in another colour"),
    ]
    assert decided("head", atoms, "Anna") == ["about", "by"]


def test_who_speaks_is_raised_above_who_is_spoken_of() -> None:
    """`label`: an atom with the name before the colon ranks first."""
    atoms = [
        named("about", "Kettle of Anna"),
        named("by", "**Anna:** the kettle leaks where its handle is"),
    ]
    assert decided("label", atoms, "What did Anna say about the kettle?") == ["about", "by"]


def test_a_title_is_no_speaker() -> None:
    """`label`: an atom with a title has no speaker."""
    atoms = [
        named("about", "Kettle of Anna"),
        named("titled", "Anna: the kettle leaks where its handle is", title="Anna of the notes"),
    ]
    assert decided("label", atoms, "What did Anna say about the kettle?") == ["about", "about"]


@pytest.mark.parametrize(
    ("question", "tag"),
    [
        ("tea", "tea"),
        ("tea", "Teas"),
        ("tea that is green", "Green-Tea"),
        ("greens for teas", "green-tea"),
        ("tea that is green", "tea_green"),
        ("tea that is green", "green/tea"),
        ("happy tea", "happiness"),
        ("tea in Kraków", "kraków"),
        ("tea 日本", "日本"),
        ("the tea of ADR-016", "adr-016"),
    ],
)
def test_a_tag_that_is_of_the_question_s_words_counts(question: str, tag: str) -> None:
    """`tag`: separators and word endings in a tag do not matter."""
    atoms = [
        named("short", "tea"),
        named("tagged", "There was tea for all who had come to the garden that afternoon", tags=[tag]),
    ]
    assert decided("tag", atoms, question) == ["short", "tagged"]


@pytest.mark.parametrize("word", ["using", "aging", "dying", "skies", "owing"])
def test_a_tag_is_found_by_its_own_word(word: str) -> None:
    """`tag`: a tag is found even if its stem is spelled differently from the beginning of the word."""
    atoms = [
        named("short", "tea"),
        named("tagged", "There was tea for all who had come to the garden that afternoon", tags=[word]),
    ]
    assert decided("tag", atoms, f"tea {word}") == ["short", "tagged"]


@pytest.mark.parametrize("tag", ["green-tea-shop", "teashop", "shop/tea", "te", "garden"])
def test_a_tag_with_another_word_does_not_count(tag: str) -> None:
    """`tag`: all words of the tag must be in the question."""
    atoms = [
        named("short", "tea"),
        named("tagged", "There was tea for all who had come that afternoon", tags=[tag]),
    ]
    assert decided("tag", atoms, "green tea") == ["short", "short"]


def test_a_tag_alone_finds_an_atom() -> None:
    """`tag`: an atom that only has the tag is an anchor."""
    atoms = [named("tagged", "Seventy degrees, two minutes.", tags=["green-tea"]), *fillers(3)]
    (hit,) = ask(atoms, "green tea").hits
    assert (hit.key, hit.role) == ("tagged", "anchor")


@pytest.mark.parametrize(
    ("question", "other"),
    [
        ("Where did Anna go?", "Anna went to Lisbon by train, late in the winter"),
        ("What has Anna bought?", "Anna buys a house in Lisbon, late in the winter"),
        ("Anna and the children", "Anna has one child in Lisbon, since that winter"),
    ],
)
def test_irregular_forms_of_a_word_are_found(question: str, other: str) -> None:
    """`forms`: go finds went, bought finds buys, children finds child."""
    atoms = [named("name", "Anna of Lisbon"), named("form", other)]
    assert decided("forms", atoms, question) == ["name", "form"]


def test_a_form_counts_less_than_the_word() -> None:
    """`forms`: an atom with the exact word ranks before one with another form."""
    atoms = [named("form", "Anna went there.", 1), named("word", "Anna: go there.", 2)]
    assert decided("forms", atoms, "Where did Anna go?") == ["word", "word"]


def test_a_word_that_the_question_repeats_counts_more() -> None:
    """`repeated`: of two words that are equally rare, the one that the question has twice decides."""
    atoms = [named("once", "a lid", 1), named("twice", "a cup", 2), *fillers(9)]
    assert decided("repeated", atoms, "a lid, a cup or two cups") == ["once", "twice"]
    assert decided("repeated", atoms, "a lid or a cup") == ["once", "once"]


def test_no_repetition_doubles_the_weight_of_a_word() -> None:
    """`repeated`: a word that the question has a hundred times counts almost twice."""
    atoms = [named("cup", "a cup", 1), *fillers(9)]
    (once,), (often,) = (ask(atoms, "cup " * times, only("repeated")).hits for times in (1, 100))
    assert 1.9 * once.score < often.score < 2 * once.score


def test_a_word_that_texts_repeat_counts_more() -> None:
    """`burst`: of two words that are equally rare, the one that some text repeats decides."""
    lid, cup = named("lid", "a lid", 1), named("cup", "a cup", 2)
    seldom = [named("both", "some lid or some cup in the house", 3), *fillers(9)]
    often = [named("both", "a cup by a cup, and some lid", 3), *fillers(9)]
    both_off = only("burst", burst=0.0)
    assert [keys(ask([lid, cup, *seldom], "lid cup", only("burst")).hits)] == [["both", "lid", "cup"]]
    assert [keys(ask([lid, cup, *often], "lid cup", both_off).hits)] == [["both", "lid", "cup"]]
    assert [keys(ask([lid, cup, *often], "lid cup", only("burst")).hits)] == [["both", "cup", "lid"]]


def test_a_word_alone_weighs_the_same_whether_or_not_texts_repeat_it() -> None:
    """`burst`: the weights of the words change only in relation to each other."""
    atoms = [named("cup", "a cup by a cup", 1), *fillers(9)]
    scores = [ask(atoms, "cup", only("burst", burst=share)).hits[0].score for share in (0.0, 1.0)]
    assert scores[0] == scores[1]


def test_an_initial_counts_less_than_a_word() -> None:
    """The letter in "C. Davis" weighs less than a letter that stands for itself, and still decides."""
    atoms = [named("davis", "Davis", 1), named("letter", "c", 2), named("both", "c Davis", 3), *fillers(9)]
    assert keys(ask(atoms, "C Davis", only("head", head=0.0)).hits) == ["both", "davis", "letter"]
    scores = [{hit.key: hit.score for hit in ask(atoms, text).hits} for text in ("C Davis", "C. Davis")]
    assert scores[0]["letter"] > 2 * scores[1]["letter"] > 0
    assert scores[1]["both"] > scores[1]["davis"]


def test_the_words_of_the_first_answers_find_more() -> None:
    """`feedback`: other words of the best answer lead to further atoms with them."""
    atoms = [
        named("first", "kettle, kettle: descaler"),
        named("short", "The kettle is blue"),
        named("like", "The kettle and the cups wait for descaler again today"),
        *fillers(30),
    ]
    off = ask(atoms, "kettle", only("feedback", feedback=0.0))
    on = ask(atoms, "kettle", only("feedback"))
    assert keys(off.hits) == ["first", "short", "like"]
    assert keys(on.hits) == ["first", "like", "short"]


def test_words_that_stand_together_count_more() -> None:
    """`proximity`: of two atoms with the same words, the one with adjacent words ranks first."""
    words = "copper kettle one two three four five six seven eight nine ten eleven lid"
    atoms = [
        named("apart", words, 1),
        named("close", words.replace(" lid", "").replace("kettle", "kettle lid"), 2),
    ]
    assert decided("proximity", atoms, "kettle lid") == ["apart", "close"]


def test_what_was_made_at_the_time_asked_for_counts_more() -> None:
    """`time`: an atom created on a date in the question ranks first."""
    may = 1_683_417_600_000_000  # 2023-05-07
    atoms = [
        named("before", "kettle", 1, created=may - 1),
        named("after", "kettle", 2, created=may + DAY),
        named("then", "kettle", 3, created=may + DAY - 1),
    ]
    assert decided("time", atoms, "the kettle on 7 May 2023") == ["before", "then"]


def test_last_week_is_told_by_the_newest_event() -> None:
    """`time`: relative times are resolved against the newest event, not a clock."""
    atoms = [named("now", "kettle", 1, created=BEGIN), named("then", "kettle", 2, created=BEGIN - DAY)]
    assert decided("time", atoms, "the kettle of yesterday") == ["now", "then"]


def test_asked_when_an_atom_that_says_when_counts_more() -> None:
    """`time`: a question with "when" prefers an atom with a weekday."""
    atoms = [named("what", "The kettle broke in two", 1), named("when", "The kettle broke on Monday", 2)]
    assert decided("time", atoms, "When did the kettle break?", forms=0.5) == ["what", "when"]
    assert decided("time", atoms, "How did the kettle break?", forms=0.5) == ["what", "what"]


def test_a_time_before_1970_is_no_time_of_an_atom() -> None:
    """`time`: an atom created in the first moments of 1970 does not match 1965."""
    atoms = [named("late", "kettle", 1, created=40 * DAY), named("early", "kettle", 2, created=0)]
    assert decided("time", atoms, "the kettle in 1965") == ["late", "late"]


@pytest.mark.parametrize("question", ["What do Anna and Boris say?", "How are Anna and Boris related?"])
def test_an_atom_with_several_names_of_the_question_comes_first(question: str) -> None:
    """`words`: each of the names counts, so an atom with both precedes an atom with one of them twice."""
    atoms = [named("one", "Anna had kettles, Anna said", 1), named("two", "Anna met Boris", 2)]
    assert keys(ask(atoms, question).hits) == ["two", "one"]


def test_a_remark_comes_before_a_long_answer_if_lengths_differ_much() -> None:
    """`length`: beside remarks, a long answer is at a disadvantage; among texts of one length, it is not."""
    remark = named("remark", "The kettle leaks near its handle", 1)
    answer = named("answer", "kettle, " * 5 + "honey, flowers and hives " * 16, 2)
    question = "Which kettle is it?"
    remarks = [remark, answer, *fillers(30)]
    assert decided("length", remarks, question) == ["answer", "remark"]
    alike = [remark, answer, *fillers(30, "kindly mention some long matters " * 12)]
    assert decided("length", alike, question) == ["answer", "answer"]


@pytest.mark.parametrize(
    ("question", "first"),
    [
        ("Which kettle did I buy?", "own"),
        ("Which kettle did you say I should buy?", "other"),
        ("Which kettle did Anna buy?", "other"),
    ],
)
def test_who_asks_about_himself_finds_what_he_said(question: str, first: str) -> None:
    """`person`: a question with "I" raises the texts with "I", unless it is about what somebody told "me"."""
    atoms = [
        named("other", "Buy the kettle in the shop", 1),
        named("own", "My kettle: I buy it in the shop", 2),
    ]
    assert decided("person", atoms, question) == ["other", first]


def test_what_is_internal_comes_before_what_is_external_and_that_before_quarantine() -> None:
    """`internal`: each provenance has half the score of the one before."""
    atoms = [
        named("quarantine", "kettle", 1, provenance="quarantine"),
        named("external", "kettle", 2, provenance="external"),
        named("internal", "kettle", 3),
    ]
    off = ask(atoms, "kettle", only("internal", internal=1.0)).hits
    on = ask(atoms, "kettle", only("internal")).hits
    assert keys(off) == ["quarantine", "external", "internal"]
    assert keys(on) == ["internal", "external", "quarantine"]
    assert [hit.score for hit in on] == pytest.approx(
        [on[0].score / factor for factor in (1, 2, 4)], abs=2e-6
    )
    assert {hit.score for hit in off} == {on[0].score}


def test_the_factor_may_be_as_wanted() -> None:
    """`internal`: with a factor of 3, external text has a third of the score."""
    atoms = [named("external", "kettle", provenance="external"), named("internal", "kettle", 3)]
    first, second = ask(atoms, "kettle", only("internal", internal=3.0)).hits
    assert first.score == pytest.approx(3 * second.score, abs=3e-6)


def test_what_is_trusted_counts_more_and_what_is_not_less() -> None:
    """`trust`: full trust ranks before half or unrecorded trust, and that before no trust."""
    atoms = [
        named("none", "kettle", 1, trust=0),
        named("half", "kettle", 2, trust=50),
        named("unsaid", "kettle", 3),
        named("full", "kettle", 4, trust=100),
    ]
    assert keys(ask(atoms, "kettle", only("trust", trust=0.0)).hits) == ["none", "half", "unsaid", "full"]
    hits = ask(atoms, "kettle", only("trust")).hits
    assert keys(hits) == ["full", "half", "unsaid", "none"]
    assert [hit.score / hits[1].score for hit in hits] == pytest.approx([1.2, 1, 1, 0.8], abs=1e-4)


def test_each_part_of_a_question_that_is_split_has_its_own_hits() -> None:
    """`split`: the best atoms of each entity rank before one with a verb."""
    atoms = [named("verb", "They mended it", 1), named("thing", "kettles are there", 2), *fillers(2)]
    assert decided("split", atoms, "Did Anna mend kettles?") == ["verb", "thing"]


def test_no_signal_is_left_when_all_are_off() -> None:
    """Every weight of `NO_SIGNALS` switches its signal off."""
    atoms = [named("a", "Anna: kettle", tags=["kettle"], trust=100), *fillers(3)]
    (hit,) = ask(atoms, "When did Anna buy a kettle?", only("head", head=0.0), explain=True).hits
    assert set(hit.signals or {}) == {"words"}
    assert NO_SIGNALS.internal == 1.0
