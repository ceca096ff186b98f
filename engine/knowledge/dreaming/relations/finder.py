"""The relations that the texts of a step state, as commands of the dreamer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from engine.base.errors import EngineError
from engine.knowledge.dreaming.known_names import Name, Names
from engine.knowledge.dreaming.relations.commands import AddRelation, End
from engine.knowledge.dreaming.relations.patterns import TextReader, is_likely
from engine.knowledge.dreaming.relations.pipeline import Parser
from engine.knowledge.dreaming.relations.statements import WRITER
from engine.knowledge.dreaming.survey import ReadAtom, Survey
from engine.ledger.entities import entity_identity, entity_key, entity_name

if TYPE_CHECKING:
    from spacy.tokens import Doc


class _Likely(NamedTuple):
    """A text that can state a relation, with the known names in it."""

    text: ReadAtom
    content: str
    known: dict[tuple[str, ...], Name]
    reader: TextReader


class Relater:
    """Finds the relations that texts state."""

    def __init__(self, survey: Survey, names: Names, parser: Parser | None) -> None:
        self._survey = survey
        self._names = names
        self._parser = parser

    def commands(self, texts: Sequence[ReadAtom]) -> list[list[AddRelation]]:
        """Return for each text the commands that add the relations it states. External texts state none."""
        likely = [(at, one) for at, text in enumerate(texts) for one in self._likely(text)]
        parses = self._parsed([one for _, one in likely])
        found: list[list[AddRelation]] = [[] for _ in texts]
        for (at, one), parsed in zip(likely, parses, strict=True):
            found[at] = list(self._commands(one, parsed))
        return found

    def _likely(self, text: ReadAtom) -> Iterator[_Likely]:
        if text.record.ordinal not in self._survey.internal or not is_likely(text.tokenized.words):
            return
        names = self._names.found_in(text.tokenized, self._survey.config.known_per_atom)
        known = _by_words(names)
        content = text.body.content[: self._survey.config.chars]
        yield _Likely(text, content, known, TextReader(content, known.__contains__))

    def _parsed(self, likely: list[_Likely]) -> list[dict[int, Doc] | None]:
        """Return the parses of the sentences that can state a relation, by the first character of each."""
        if self._parser is None:
            return [None] * len(likely)
        sentences = [
            (number, sentence.start, one.content[sentence.start : sentence.end])
            for number, one in enumerate(likely)
            for sentence in one.reader.sentences()
            if not sentence.asks and is_likely(sentence.words)
        ]
        parses: list[dict[int, Doc] | None] = [{} for _ in likely]
        docs = self._parser.parsed(text for _, _, text in sentences)
        for (number, start, _), doc in zip(sentences, docs, strict=True):
            own = parses[number]
            if own is not None:
                own[start] = doc
        return parses

    def _commands(self, one: _Likely, parses: dict[int, Doc] | None) -> Iterator[AddRelation]:
        record = one.text.record
        found = one.reader.statements(parses)
        for statement in found[: self._survey.config.relations_per_atom]:
            subject, object_ = (self._end(end, one.known) for end in (statement.subject, statement.object))
            if subject is not None and object_ is not None:
                at = statement.start, statement.end
                relation = subject, statement.predicate, object_
                yield AddRelation(record.id, record.payload_seq, *relation, at, statement.by_parse)

    def _end(self, text: str, known: dict[tuple[str, ...], Name]) -> End | None:
        """Return the entity that these words name, or None if they cannot be a name."""
        if text == WRITER or len(text) > self._survey.config.name_chars_max:
            return None
        name = known.get(tuple(text.lower().split()))
        if name is not None:
            return End(name.text, name.id)
        try:
            entity_key(entity_name(text))
        except EngineError:
            return None
        return End(text, None) if any(map(str.isalnum, entity_identity(text))) else None


def _by_words(names: Iterable[Name]) -> dict[tuple[str, ...], Name]:
    """Return the names by the words of their forms. An alias of two names is left out."""
    found: dict[tuple[str, ...], Name] = {}
    ambiguous: set[tuple[str, ...]] = set()
    for name in names:
        for form in name.forms:
            if found.setdefault(form.words, name) is not name and form != name.tokens:
                ambiguous.add(form.words)
    return {words: name for words, name in found.items() if words not in ambiguous}
