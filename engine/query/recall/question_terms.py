"""The terms that recall searches for: misspelled names are replaced, and a long question is shortened.

    Carolyn ──▶ is it in no text, tag or alias? ──▶ similar terms ──▶ the first that is written like a name

Only a word that is written like a name is changed, and only if the memory does not know it. The replacement
must occur in an atom that the filters allow. The answer says which names were read differently
(`Recall.matched`). Filters and proofs compare words exactly; nothing here applies to them.

Of a long question, only the most informative terms are searched for (`rarest_terms`).
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from pyroaring import BitMap

from backends.base import Reader
from engine.followers.names import aliased, has_aliases
from engine.index.index_view import IndexView
from engine.ledger.queries import bodies_of, ids_at, records_of
from engine.query.recall.atom_set import AtomSet
from engine.query.recall.recall_answer import MatchedName
from engine.query.recall.signals.words import tag_terms
from engine.text.analyzer import analyze_query, index_terms
from engine.text.language.parts_of_speech import forms_of
from engine.text.language.question_model import Entity, Part, Question
from engine.text.language.tokenizer import bare, clean, split
from engine.text.simhash import phrase_hashes
from engine.text.speaker_labels import label_of
from proofs.leaves import Group

NAME_CHARS_MIN: Final = 4
"""The smallest number of letters of a misspelled name, and of the name that it stands for. Shorter names are
similar to many words."""

NAME_CHARS_MAX: Final = 40

TWO_EDITS_CHARS: Final = 8
"""Names of at least this many letters may have two edits, shorter names one."""

NAMES_MAX: Final = 4
"""The largest number of names of a question that are replaced."""

PACKS_MAX: Final = 512
"""The largest number of rows of the index, of 4 KiB each, that are read to find terms similar to a name.

Measured: 40 such rows of a collection of notes have 2,500 terms, and comparing a name with them takes 2 ms.
"""

PREFIX_MAX: Final = 3
"""If the terms that begin with the name's first letter are in too many rows, two letters must agree, and then
this many."""

TAGS_MAX: Final = 4_096

SIMILAR_MAX: Final = 32
"""The largest number of similar terms that are ordered by the number of their atoms."""

READ_TERMS: Final = 8
"""The largest number of similar terms whose texts are read."""

READ_ATOMS: Final = 4
"""The number of atoms in which the spelling of a term is looked up."""

SEEN_MAX: Final = 16
"""The largest number of occurrences of a term that are looked at in a text."""

ALIAS_TERMS: Final = 6

QUESTION_TERMS_MAX: Final = 64

_ENDS: Final = frozenset(".?!:;\n")

TERMS_READ: Final = 256
"""The number of terms whose rows are read at a time, so that the rows of a long question are not all in
memory."""


class _Similar(NamedTuple):
    """A term that is similar to a misspelled name."""

    edits: int
    term: str
    written: str | None
    """The tag that the term comes from, or None for a term of a text."""
    atoms: BitMap
    """The allowed atoms with the term or the tag."""


class Respelled(NamedTuple):
    """A question in which misspelled names are replaced."""

    text: str
    names: tuple[MatchedName, ...]
    """The replaced names, at least one."""


def respelled(rows: Reader, index: IndexView, atoms: AtomSet, question: Question) -> Respelled | None:
    """Return the question with its misspelled names replaced, or None if it has none.

    Several similar names are ordered by the number of edits (a letter inserted, removed or replaced, or two
    adjacent letters swapped), then by the number of atoms, the largest first, then by their terms.
    """
    unknown = _unknown(rows, index, question)
    respelt: dict[str, str] = {}
    for name, term in unknown.items():
        name_spelt = _known_name(rows, index, atoms, name, term)
        if name_spelt is not None:
            respelt[name] = name_spelt
    if not respelt:
        return None
    text = "".join(_replaced(question.text, respelt))
    return Respelled(text, tuple(MatchedName(name, name_spelt) for name, name_spelt in respelt.items()))


def _unknown(rows: Reader, index: IndexView, question: Question) -> dict[str, str]:
    """Return the names of the question that the memory does not contain, each with its term."""
    names: dict[str, str] = {}
    for word in question.words:
        if word.part is Part.PROPER and len(word.terms) == 1 and _is_name(name := bare(word.text)):
            (term,) = word.terms
            if term.isalpha() and not forms_of(term):
                names.setdefault(name, term)
    if not names:
        return names
    dfs = index.dfs(list(names.values()))
    unknown = [(name, term) for (name, term), df in zip(names.items(), dfs, strict=True) if not df]
    if unknown:
        aliases = _terms_of_aliases(rows, question)
        unknown = [(name, term) for name, term in unknown if term not in aliases]
    return dict(unknown[:NAMES_MAX])


def _is_name(word: str) -> bool:
    # Acronyms (SIAM, ISAM) differ in one letter without being misspelled.
    fits = NAME_CHARS_MIN <= len(word) <= NAME_CHARS_MAX and word.isalpha()
    return fits and word[0].isupper() and not word.isupper()


def _terms_of_aliases(rows: Reader, question: Question) -> set[str]:
    """Return the terms of the aliases that occur in the question."""
    if not has_aliases(rows):
        return set()
    terms = index_terms(question.core)[:QUESTION_TERMS_MAX]
    spans = phrase_hashes(terms, ALIAS_TERMS)
    aliases = aliased(rows, sorted(set(spans.values())))
    return {
        term for (start, end), phrase in spans.items() if aliases.get(phrase) for term in terms[start:end]
    }


def _known_name(rows: Reader, index: IndexView, atoms: AtomSet, name: str, term: str) -> str | None:
    """Return the name of the memory that `name`, whose term is `term`, most likely stands for, or None."""
    most = 1 if len(name) < TWO_EDITS_CHARS else 2
    by_tag = _tags_like(rows, atoms, term, most)
    if by_tag is None:
        return None
    small = name.lower()
    similar = list(_texts_like(index, atoms, term, small, most))
    listed = {one.term for one in similar}
    similar += [one for one in by_tag if one.term not in listed]
    similar.sort(key=lambda one: (one.edits, -len(one.atoms), one.term))
    for one in similar[:READ_TERMS]:
        written = [one.written] if one.written else _as_name(rows, index, one)
        by_edits = {word: distance(small, word.lower(), most) for word in written}
        nearest = min(by_edits, key=by_edits.__getitem__, default=None)
        if nearest is not None and len(nearest) >= NAME_CHARS_MIN and by_edits[nearest] <= most:
            return nearest
    return None


def _texts_like(index: IndexView, atoms: AtomSet, term: str, small: str, most: int) -> Iterator[_Similar]:
    """Yield the similar terms of texts. `small` is the name in small letters, and `term` is its term."""
    near: list[tuple[int, str]] = []
    shortest, longest = min(len(term), len(small)) - most, max(len(term), len(small)) + most
    for one in _terms_like(index, term):
        if not shortest <= len(one) <= longest:
            continue
        # A misspelled ending may have another stem, so the term is also compared with the whole word.
        edits = min(distance(term, one, most), distance(small, one, most))
        if edits <= most and one.isalpha():
            near.append((edits, one))
    for edits, one in sorted(near)[:SIMILAR_MAX]:
        mentions = index.ordinals_with(one) & atoms.ordinals
        if mentions:
            yield _Similar(edits, one, None, mentions)


def _terms_like(index: IndexView, term: str) -> Iterator[str]:
    """Yield the terms that begin as `term` does, and those whose first two letters are swapped."""
    for size in range(1, PREFIX_MAX + 1):
        terms = index.terms_with(term[:size], PACKS_MAX)
        if terms is not None:
            yield from terms
            break
    if term[0] != term[1]:
        yield from index.terms_with(term[1] + term[0], PACKS_MAX) or ()


def _tags_like(rows: Reader, atoms: AtomSet, term: str, most: int) -> list[_Similar] | None:
    """Return the tags of one word that are similar to `term`; None if `term` is a word of a tag itself."""
    tags = []
    for tag in islice(atoms.tags_from(rows, term[0]), TAGS_MAX):
        if not tag.startswith(term[0]):
            break
        terms = tag_terms(tag)
        if term in terms:
            return None
        if len(terms) == 1 and tag.isalpha() and (edits := distance(term, terms[0], most)) <= most:
            members = atoms.members(rows, Group.TAG, tag)
            if members:
                tags.append(_Similar(edits, terms[0], tag.capitalize(), members))
    return tags


def _as_name(rows: Reader, index: IndexView, similar: _Similar) -> list[str]:
    """Return the words with this term as the memory writes them, if they are names.

    The words of titles and of speakers' labels are names. Other words are names if most of their occurrences
    inside sentences have a capital letter, or if all their occurrences begin sentences. Only the first atoms
    are read.
    """
    term = similar.term
    heads = BitMap()
    for part in index.heads(term):
        heads |= BitMap(part.offsets.astype("u4") + part.start)
    heads &= similar.atoms
    records = records_of(rows, ids_at(rows, list(islice(heads or similar.atoms, READ_ATOMS))))
    bodies = bodies_of(rows, records)
    if heads:
        pairs = zip(records, bodies, strict=True)
        titles = [record.title or label_of(body.content) or "" for record, body in pairs]
        return [word for title in titles for word, _ in _occurrences(title, term)]
    occurrences = [one for body in bodies for one in _occurrences(body.content, term)]
    inside = [word for word, initial in occurrences if not initial and word[0].isupper()]
    small = sum(not word[0].isupper() for word, _ in occurrences)
    return inside if len(inside) > small else [] if small or inside else [word for word, _ in occurrences]


def _occurrences(text: str, term: str) -> Iterator[tuple[str, bool]]:
    """Yield the words of `text` with this term, and True for a word that begins a sentence."""
    low = text.lower()
    if len(low) != len(text):
        return
    stem, at, seen = term[:-1], 0, 0
    while (at := low.find(stem, at)) >= 0 and seen < SEEN_MAX:
        end = at
        while end < len(text) and text[end].isalpha():
            end += 1
        word = text[at:end]
        if (not at or not text[at - 1].isalnum()) and analyze_query(word) == [term]:
            before = text[:at].rstrip(" \t\"'(*_>#-")[-1:]
            yield word, not before or before in _ENDS
            seen += 1
        at = max(end, at + 1)


def _replaced(text: str, names: dict[str, str]) -> Iterator[str]:
    """Yield the parts of `text` with the words in `names` replaced. Possessive endings are kept."""
    at = 0
    for piece in split(clean(text)):
        name = bare(piece.text)
        if piece.word and name in names:
            yield text[at : piece.start] + names[name]
            at = piece.start + len(name)
    yield text[at:]


def distance(one: str, other: str, most: int) -> int:
    """Return the number of edits between two words, or `most` + 1 if there are more than `most` edits.

    An edit inserts, removes or replaces a letter, or swaps two adjacent letters (Damerau 1964, with optimal
    string alignment: no part is edited twice).
    """
    letters, others = set(one), set(other)
    if abs(len(one) - len(other)) > most or max(len(letters - others), len(others - letters)) > most:
        return most + 1  # an edit brings in or removes at most one letter
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        last, before, row = before, row, [i]
        for j, against in enumerate(other, 1):
            cost = min(before[j] + 1, row[-1] + 1, before[j - 1] + (letter != against))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == against:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most + 1:
            return most + 1
    return min(row[-1], most + 1)


def rarest_terms(question: Question, index: IndexView, most: int) -> Question:
    """Return the question with only its `most` rarest terms, which the fewest documents contain.

    Terms that no document contains are left out first. If several terms are equally rare, those that come
    first in the question are kept. A question with at most `most` terms is returned unchanged.
    """
    terms = question.terms
    if len(terms) <= most:
        return question
    dfs: list[int] = []
    for start in range(0, len(terms), TERMS_READ):
        dfs += (rows.df for rows in index.find(terms[start : start + TERMS_READ]))
    by_frequency = sorted((df or index.documents + 1, number) for number, df in enumerate(dfs))[:most]
    rare = {terms[number] for _, number in by_frequency}
    entities: dict[tuple[str, ...], Entity] = {}
    for entity in question.entities:
        entity_terms = tuple(term for term in entity.terms if term in rare)
        if entity_terms:
            entities.setdefault(entity_terms, entity._replace(terms=entity_terms))
    return question._replace(
        words=tuple(word for word in question.words if not rare.isdisjoint(word.terms)),
        terms=tuple(term for term in terms if term in rare),
        nouns=tuple(term for term in question.nouns if term in rare),
        names=tuple(term for term in question.names if term in rare),
        entities=tuple(entities.values()),
    )
