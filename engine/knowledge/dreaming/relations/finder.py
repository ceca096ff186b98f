"""The relations that the texts of a step state, as commands of the dreamer."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from engine.base.errors import EngineError
from engine.knowledge.dreaming.relations.commands import AddRelation, End
from engine.knowledge.dreaming.relations.patterns import TextReader, is_likely
from engine.knowledge.dreaming.relations.statements import WRITER
from engine.knowledge.dreaming.survey import ReadAtom, Survey
from engine.knowledge.dreaming.tokenized_text import Name, Names
from engine.ledger.entities import entity_identity, entity_key, entity_name
from engine.store.store import Store

ACTOR: Final = "dreamer"


class Relater:
    """Adds the relations that texts state."""

    def __init__(self, survey: Survey, names: Names, store: Store, origin: str) -> None:
        self._survey = survey
        self._names = names
        self._store = store
        self._origin = origin

    def add(self, texts: Iterable[ReadAtom]) -> int:
        """Commit the relations that the internal texts among these state, and return how many were added."""
        commands = [
            command
            for text in texts
            if text.record.ordinal in self._survey.internal
            for command in self._commands(text)
        ]
        if commands:
            self._store.commit(commands, ACTOR, origin=self._origin)
        return sum(command.added for command in commands)

    def _commands(self, text: ReadAtom) -> Iterator[AddRelation]:
        if not is_likely(frozenset(text.tokenized.words)):
            return
        known = {
            name.tokens.words: name
            for name in self._names.found_in(text.tokenized, self._survey.config.known_per_atom)
        }
        content = text.body.content[: self._survey.config.chars]
        found = TextReader(content, known.__contains__).statements()
        for one in found[: self._survey.config.relations_per_atom]:
            ends = [self._end(name, known) for name in (one.subject, one.object)]
            subject, object_ = ends
            if subject is not None and object_ is not None:
                at = one.start, one.end
                record = text.record
                yield AddRelation(record.id, record.payload_seq, subject, one.predicate, object_, at)

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

