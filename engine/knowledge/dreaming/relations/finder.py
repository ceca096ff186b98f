"""The relations that the texts of a step state, as commands of the dreamer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.base.errors import EngineError
from engine.knowledge.dreaming.relations.commands import AddRelation, End
from engine.knowledge.dreaming.relations.patterns import TextReader, is_likely
from engine.knowledge.dreaming.relations.pipeline import Parser, Pipeline
from engine.knowledge.dreaming.relations.statements import WRITER, Statement
from engine.knowledge.dreaming.survey import ReadAtom, Survey
from engine.knowledge.dreaming.tokenized_text import Name, Names
from engine.ledger.entities import entity_identity, entity_key, entity_name
from engine.store.store import Store

if TYPE_CHECKING:
    from spacy.tokens import Doc

ACTOR: Final = "dreamer"


class _Likely(NamedTuple):
    """A text that can state a relation, with the known names in it."""

    text: ReadAtom
    content: str
    known: dict[tuple[str, ...], Name]
    reader: TextReader


class Relater:
    """Adds the relations that texts state."""

    def __init__(
        self, survey: Survey, names: Names, store: Store, origin: str, pipeline: Pipeline | None
    ) -> None:
        """Set the snapshot, the known names, the store that is written, and the pipeline, if any.

        Events that only a parse caused name the pipeline after `origin`.
        """
        self._survey = survey
        self._names = names
        self._store = store
        self._origin = origin
        self._parser = None if pipeline is None else Parser(pipeline)

    def add(self, texts: Iterable[ReadAtom]) -> int:
        """Commit the relations that the internal texts among these state, and return how many were added."""
        likely = [one for text in texts for one in self._likely(text)]
        parses = self._parsed(likely)
        found = [
            (statement.by_parse, command)
            for one, parsed in zip(likely, parses, strict=True)
            for statement, command in self._commands(one, parsed)
        ]
        added = self._commit([command for by_parse, command in found if not by_parse], self._origin)
        if self._parser is None:
            return added
        origin = f"{self._origin}; {self._parser.pipeline.label}"
        return added + self._commit([command for by_parse, command in found if by_parse], origin)

    def _commit(self, commands: list[AddRelation], origin: str) -> int:
        if commands:
            self._store.commit(commands, ACTOR, origin=origin)
        return sum(command.added for command in commands)

    def _likely(self, text: ReadAtom) -> Iterator[_Likely]:
        if text.record.ordinal not in self._survey.internal or not is_likely(text.tokenized.words):
            return
        names = self._names.found_in(text.tokenized, self._survey.config.known_per_atom)
        known = {name.tokens.words: name for name in names}
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

    def _commands(
        self, one: _Likely, parses: dict[int, Doc] | None
    ) -> Iterator[tuple[Statement, AddRelation]]:
        record = one.text.record
        found = one.reader.statements(parses)
        for statement in found[: self._survey.config.relations_per_atom]:
            subject, object_ = (self._end(end, one.known) for end in (statement.subject, statement.object))
            if subject is not None and object_ is not None:
                at = statement.start, statement.end
                relation = subject, statement.predicate, object_
                yield statement, AddRelation(record.id, record.payload_seq, *relation, at)

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
        return End(text, None) if any(map(str.isalpha, entity_identity(text))) else None
