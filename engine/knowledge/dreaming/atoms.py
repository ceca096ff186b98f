"""What a text is about: its known names, its phrases, its categories, as commands."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations, islice

from engine.base import validation as border
from engine.base.errors import EngineError
from engine.base.validation import show_id
from engine.commands.base import Command
from engine.knowledge.dreaming.commands import Connect, Enrich, tagged
from engine.knowledge.dreaming.pages import Name, Names
from engine.knowledge.dreaming.survey import PAIR_EVIDENCE, Pair, Survey, Text, kept
from engine.language.categories import categories_of


def wanted(survey: Survey, names: Names, text: Text) -> list[Command]:
    """What is to be true of an atom: first that it has its tags and mentions, then who belongs together."""
    internal = text.record.ordinal in survey.internal
    found = _named(survey, names, text, internal=internal)
    tags = list(_tags(survey, names, text, found, internal=internal))
    mentions = tuple(name.id for name in found)
    commands: list[Command] = []
    categories = _categories(survey, text)
    if tags or categories or mentions:
        said, most = text.record.payload_seq, survey.config.tags_per_atom
        commands.append(Enrich(text.record.id, said, tuple(tags), categories, mentions, most))
    return [*commands, *_together(survey, found)] if internal else commands


def _named(survey: Survey, names: Names, text: Text, *, internal: bool) -> list[Name]:
    """The names of a text that lead somewhere and not everywhere, the rarest first."""
    counted = []
    for name in names.found_in(text.page, survey.config.known_per_atom):
        having = survey.having(name.tokens.words)
        own = len(having & survey.internal)
        # However many texts from outside have a name, our own keep it.
        fits = survey.fits(own, survey.internal) and (internal or survey.fits(len(having), survey.texts))
        if fits:
            counted.append((own, name.tokens.words, name))
    counted.sort(key=lambda one: one[:2])
    return [name for _, _, name in counted[: survey.config.mentions_per_atom]]


def _tags(
    survey: Survey, names: Names, text: Text, found: Sequence[Name], *, internal: bool
) -> Iterator[str]:
    """The tags of a text, the most telling first."""
    for name in found[: survey.config.names_per_atom]:
        yield from _tag(name.text)
    if internal:
        for pair in _shared(survey, names, text, found):
            yield from _tag("-".join(pair))


def _categories(survey: Survey, text: Text) -> tuple[str, ...]:
    """All categories of a text, or none: a text with the tag of one is in no other by its words."""
    found = categories_of(text.body.content, text.body.title)
    return tuple(one.value.capitalize() for one in found) if survey.categories.issuperset(found) else ()


def _shared(survey: Survey, names: Names, text: Text, found: Sequence[Name]) -> Iterator[Pair]:
    """Those of a text's phrases that are among those of another, too.

    Without this one phrase in five was left with a single text, the other having chosen another.
    """
    for pair in _phrases(survey, text, found):
        for other in survey.read(survey.having(pair)[:PAIR_EVIDENCE].to_array()):
            ordinal = other.record.ordinal
            if ordinal == text.record.ordinal or ordinal not in survey.internal:
                continue
            if pair in _phrases(survey, other, _named(survey, names, other, internal=True)):
                yield pair
                break


def _phrases(survey: Survey, text: Text, found: Sequence[Name]) -> tuple[Pair, ...]:
    """The pairs of words that some other texts have, too, and not many: those of most texts first."""

    def made() -> tuple[Pair, ...]:
        had = tagged(survey.rows, text.record)
        # What was taken off counts: who did that does not want something else in its stead.
        if (
            len(had.others | had.removed) + len(found[: survey.config.names_per_atom])
            >= survey.config.tags_min
        ):
            return ()
        counted = ((survey.sharing(pair), pair) for pair in text.page.phrases())
        ranked = sorted((-count, pair) for count, pair in counted if count)
        chosen = (pair for _, pair in ranked if survey.is_phrase(pair))
        return tuple(islice(chosen, survey.config.phrases_per_atom))

    return kept(survey.phrases, text.record.ordinal, made)


def _tag(text: str) -> Iterator[str]:
    """A name as a tag; none where it cannot be one."""
    try:
        yield border.tag(text)
    except EngineError:
        return


def _together(survey: Survey, found: Sequence[Name]) -> Iterator[Connect]:
    """The names of a text that stand together often enough."""
    for pair in combinations(found, 2):
        one, other = sorted(pair, key=lambda name: name.tokens.words)
        first, second = (survey.having(name.tokens.words) & survey.internal for name in (one, other))
        shared, larger = len(first & second), max(len(first), len(second))
        if shared >= survey.config.together_min and shared >= survey.config.together_share * larger:
            yield Connect(show_id(one.id), show_id(other.id), round(shared / larger, 2))
