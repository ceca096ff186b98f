"""The terms that recall searches for: misspelled names are replaced, and a long question is shortened.

    Carolyne ──▶ is it in no text, tag or alias? ──▶ words with one edit ──▶ a name of the memory

Only a word that is written like a name is changed, and only if the memory does not know it. The replacement
must occur in an atom that the filters allow. The answer says which names were read differently
(`Recall.matched`). Filters and proofs compare words exactly; nothing here applies to them.

Of a long question, only the most informative terms are searched for (`rarest_terms`), and the numbers of an
unknown code are not (`without_code_parts`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice
from string import ascii_lowercase
from typing import Final, NamedTuple

from pyroaring import BitMap

from backends.base import Reader
from engine.followers.names import aliased, has_aliases
from engine.followers.tags import nonempty
from engine.index.index_view import IndexView
from engine.ledger.queries import bodies_of, ids_at, records_of
from engine.query.recall.atom_set import AtomSet
from engine.query.recall.recall_answer import MatchedName
from engine.text.analyzer import index_terms, index_terms_many
from engine.text.language.parts_of_speech import forms_of
from engine.text.language.question_model import Entity, Part, Question
from engine.text.language.tokenizer import bare, clean, split
from engine.text.simhash import phrase_hashes
from proofs.leaves import Group, tag_identity

NAME_CHARS_MIN: Final = 4
"""The smallest number of letters of a misspelled name, and of the name that it stands for. Shorter names are
similar to many words."""

NAME_CHARS_MAX: Final = 24
"""The largest number of letters of a misspelled name. A longer one has too many words with one edit."""

NAMES_MAX: Final = 4
"""The largest number of names of a question that are replaced."""

READ_NAMES: Final = 8
"""The largest number of similar words whose texts are read."""

READ_ATOMS: Final = 4
"""The number of atoms in which the spelling of a word is looked up."""

CODE_LETTERS_MIN: Final = 2
"""The smallest number of letters of a part of an unknown code that is searched for by itself."""

ALIAS_TERMS: Final = 6

QUESTION_TERMS_MAX: Final = 64

TERMS_READ: Final = 256
"""The number of terms whose rows are read at a time, so that the rows of a long question are not all in
memory."""


class Respelled(NamedTuple):
    """A question in which misspelled names are replaced."""

    text: str
    names: tuple[MatchedName, ...]
    """The replaced names, at least one."""


def respelled(rows: Reader, index: IndexView, atoms: AtomSet, question: Question) -> Respelled | None:
    """Return the question with its misspelled names replaced, or None if it has none.

    Of several similar names, the one in the most atoms is chosen, then the first in the alphabet.
    """
    unknown = _unknown(rows, index, atoms, question)
    respelt: dict[str, str] = {}
    for name in unknown:
        name_spelt = _known_name(rows, index, atoms, name)
        if name_spelt is not None:
            respelt[name] = name_spelt
    if not respelt:
        return None
    text = "".join(_replaced(question.text, respelt))
    return Respelled(text, tuple(MatchedName(name, name_spelt) for name, name_spelt in respelt.items()))


def _unknown(rows: Reader, index: IndexView, atoms: AtomSet, question: Question) -> list[str]:
    """Return the names of the question that the memory does not contain."""
    names: dict[str, str] = {}
    for word in question.words:
        if word.part is Part.PROPER and len(word.terms) == 1 and _is_name(name := bare(word.text)):
            (term,) = word.terms
            if term.isalpha() and not forms_of(term):
                names.setdefault(name, term)
    if not names:
        return []
    dfs = index.dfs(list(names.values()))
    unknown = [(name, term) for (name, term), df in zip(names.items(), dfs, strict=True) if not df]
    if unknown:
        aliases = _terms_of_aliases(rows, question)
        unknown = [(name, term) for name, term in unknown if term not in aliases]
    tagged = (name for name, _ in unknown if not atoms.members(rows, Group.TAG, tag_identity(name)))
    return list(islice(tagged, NAMES_MAX))


def _is_name(word: str) -> bool:
    # Acronyms (SIAM, ISAM) differ in one letter without being misspelled.
    fits = NAME_CHARS_MIN <= len(word) <= NAME_CHARS_MAX and word.isalpha()
    return fits and word.isascii() and word[0].isupper() and not word.isupper()


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


def _known_name(rows: Reader, index: IndexView, atoms: AtomSet, name: str) -> str | None:
    """Return the name of the memory that a misspelled name most likely stands for, or None."""
    words = list(one_edit_from(name.lower()))
    terms = [found[0] if len(found) == 1 else "" for found in index_terms_many(words)]
    dfs = index.dfs(terms)
    tagged = nonempty(rows, [(Group.TAG, word) for word in words], atoms.documents)
    similar: list[tuple[int, str, BitMap]] = []
    # Nearly all of these words are in no text and no tag.
    for word, term, df, is_tag in zip(words, terms, dfs, tagged, strict=True):
        there = atoms.members(rows, Group.TAG, word) if is_tag else BitMap()
        if df:
            there = there | (index.ordinals_with(term) & atoms.ordinals)
        if there and len(word) >= NAME_CHARS_MIN:
            similar.append((-len(there), word.capitalize(), there))
    for _, known, there in sorted(similar, key=lambda one: one[:2])[:READ_NAMES]:
        if _is_written(rows, known, there):
            return known
    return None


def one_edit_from(word: str) -> Iterator[str]:
    """Yield the words that differ from a word of the letters a to z in one edit; a word may be repeated.

    An edit inserts, removes or replaces a letter after the first one, or swaps two adjacent letters.
    """
    for at in range(1, len(word) + 1):
        before, after = word[:at], word[at:]
        yield from (before + letter + after for letter in ascii_lowercase)
        if after:
            yield before + after[1:]
            yield before[:-1] + after[0] + before[-1] + after[1:]
            yield from (before + letter + after[1:] for letter in ascii_lowercase if letter != after[0])


def _is_written(rows: Reader, name: str, atoms: BitMap) -> bool:
    """Return True if the memory writes a word with a capital letter, or only in a tag.

    The first atoms that contain the word are read.
    """
    records = records_of(rows, ids_at(rows, list(islice(atoms, READ_ATOMS))))
    bodies = bodies_of(rows, records)
    texts = [f"{record.title or ''}\n{body.content}" for record, body in zip(records, bodies, strict=True)]
    if any(re.search(rf"\b{name.lower()}\b", text) for text in texts):
        return False
    tagged = any(name.lower() in map(tag_identity, record.tags) for record in records)
    return tagged or any(re.search(rf"\b{name}\b", text) for text in texts)


def _replaced(text: str, names: dict[str, str]) -> Iterator[str]:
    """Yield the parts of `text` with the words in `names` replaced. Possessive endings are kept."""
    at = 0
    for piece in split(clean(text)):
        name = bare(piece.text)
        if piece.word and name in names:
            yield text[at : piece.start] + names[name]
            at = piece.start + len(name)
    yield text[at:]


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
    return _with_terms(question, {terms[number] for _, number in by_frequency})


def without_code_parts(question: Question, index: IndexView) -> Question:
    """Return the question without single letters of codes, and without numbers of codes that no document has.

    A document that contains 5 says nothing about `zqmark5`, and the letters of `U.S.` say nothing that the
    whole does not say. A part of the code with two letters or more is still searched for, and so is a number
    in which there are no letters.
    """
    searched = set(question.terms)
    codes = [
        word.terms
        for word in question.words
        if word.terms[1:] and word.terms[0] in searched and _letters(word.terms[0])
    ]
    dfs = index.dfs([terms[0] for terms in codes])
    parts = {
        part
        for code, df in zip(codes, dfs, strict=True)
        for part in code[1:]
        if _letters(part) < CODE_LETTERS_MIN and (part.isalpha() or not df)
    }
    parts -= {word.terms[0] for word in question.words}
    return _with_terms(question, searched - parts) if parts else question


def _letters(term: str) -> int:
    return sum(map(str.isalpha, term))


def _with_terms(question: Question, wanted: set[str]) -> Question:
    """Return the question with only these of its terms."""
    entities: dict[tuple[str, ...], Entity] = {}
    for entity in question.entities:
        entity_terms = tuple(term for term in entity.terms if term in wanted)
        if entity_terms:
            entities.setdefault(entity_terms, entity._replace(terms=entity_terms))
    return question._replace(
        words=tuple(word for word in question.words if not wanted.isdisjoint(word.terms)),
        terms=tuple(term for term in question.terms if term in wanted),
        nouns=tuple(term for term in question.nouns if term in wanted),
        names=tuple(term for term in question.names if term in wanted),
        entities=tuple(entities.values()),
    )
