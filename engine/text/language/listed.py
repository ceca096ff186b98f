"""The subjects that a question lists ("Anna, Boris and Clara"), and the kind of answer it asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from engine.base.patterns import lazy
from engine.text.language.model import Entity

_BETWEEN: Final = lazy(
    r"(?:['\u2019]s?)?\s*(?:[,;/&+]|and\b|or\b|nor\b|vs\b\.?|versus\b|with\b)\s*(?:(?:and|or|nor)\b\s*)?"
    r"(?:(?:about|also|both|either|the|an?|my|our|your|his|her|their)\b\s*){0,3}"
)
"""The words between two subjects of a list."""


def listed(core: str, entities: Sequence[Entity]) -> tuple[Entity, ...]:
    """Return the entities that stand in the longest list of entities in the core of a question.

    Only commas, slashes and words such as "and" stand between the entities of a list. All of them are names,
    or none is. The result is empty if there is no list of at least two entities. Of lists of equal length,
    the first counts.
    """
    places = sorted((core.find(one.text), at) for at, one in enumerate(entities))
    best: list[int] = []
    run: list[int] = []
    end = -1
    for start, at in places:
        if start < 0:
            continue
        follows = bool(run) and entities[run[-1]].proper == entities[at].proper
        if follows and end <= start and _BETWEEN.fullmatch(core[end:start].lower()):
            run.append(at)
        else:
            run = [at]
        end = start + len(entities[at].text)
        best = run if len(run) > len(best) else best
    return tuple(entities[at] for at in best) if len(best) > 1 else ()


_ASKED: Final = lazy(r"\b(?:what|which|whose|how many|how much) (?:(?:kinds?|types?|sorts?) of )?$")
_ASKED_CHARS: Final = 24


def is_asked_for(core: str, entity: Entity) -> bool:
    """Return True if the entity is the kind of answer that is asked for, as in "which city"."""
    if entity.proper:
        return False
    start = core.find(entity.text)
    before = core[max(0, start - _ASKED_CHARS) : max(0, start)].lower()
    return _ASKED.search(before) is not None
