"""The result of recall: the hits, how each hit was found, and the candidates that were left out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum


class Role(StrEnum):
    """The role of a hit: an anchor contains words of the question, a walker is only related to an anchor."""

    ANCHOR = "anchor"
    """A hit that contains words of the question."""
    WALKER = "walker"
    """A hit that contains no words of the question but is related to an anchor.

    The relation is a shared tag, a link, the hit's title in the anchor's text, or the same source.
    """


@dataclass(frozen=True, slots=True)
class Bridge:
    """A tag that connects atoms with words of the question to atoms without such words."""

    tag: str
    weight: float
    """The weight of the tag, above 0 and at most 1. Rare tags have a higher weight."""
    atoms: int
    """The number of atoms that have this tag and pass the filters."""


@dataclass(frozen=True, slots=True)
class MatchedName:
    """A name of the question that no atom contains, and the similar name that was searched for instead."""

    asked: str
    found: str

    def __str__(self) -> str:
        """Return a note for people and models; both names consist of letters only."""
        return f"{self.asked} read as {self.found}"


def notes_of(matched: Iterable[MatchedName], unknown_tags: Iterable[str]) -> list[str]:
    """Return a note for each name that was read differently, and for each tag that no atom has."""
    return [*map(str, matched), *(f"there is no tag #{tag}" for tag in unknown_tags)]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that was left out of the hits. Recall lists such candidates only if `explain` is set."""

    id: str
    score: float
    reason: str
    """The reason why the candidate was left out, which is one of these texts: `duplicate of <id>`,
    `enough of its page`,
    `over the budget`, `beyond the limit`, `too many walkers`, `no such category`,
    `superseded by <id>`, `like <id>, which is superseded`."""


@dataclass(frozen=True, slots=True)
class Hit:
    """An atom that answers the query."""

    id: str
    score: float
    role: Role
    title: str | None
    source: str | None
    sequence: int | None
    key: str | None
    tags: tuple[str, ...]
    created: int
    provenance: str
    snippet: str
    content: str | None
    """The text of the atom if a token budget was given to recall, else None.

    The text of the first hit is cut if it would exceed the budget. If the question is about several subjects,
    the first hit of each may be cut.
    """
    tokens: int
    """The estimated number of tokens of the hit when it is formatted for a prompt
    (`engine.query.prompt_text`)."""
    duplicates: tuple[str, ...]
    """The ids of the hit's near-duplicates, which are not hits themselves."""
    signals: dict[str, float] | None = None
    """Maps the name of each signal to the amount that the signal added to the score. The amount is negative
    if the signal lowered the score. None if recall was called without `explain`."""
    path: tuple[str, ...] = ()
    """The reasons why a walker was found. If the text or the edges of an anchor led to the walker, the id of
    the anchor comes first. The tags that the walker shares with anchors follow. Empty if the hit is an
    anchor."""
    page: str | None = None
    """The title of the page that the atom belongs to, or None if it does not come from a file."""
    when: str = ""
    """The day on which the text was written, and the times in the shown text that depend on it
    (`engine.query.written_days`). Empty if no time does and the question does not ask for one."""

    @property
    def heading(self) -> str | None:
        """The titles of the page and the atom if they differ, or else the title that exists, or else None."""
        return joined_titles(self.page, self.title)


def joined_titles(page: str | None, title: str | None) -> str | None:
    """Return the titles of a page and an atom as one title, which names both only if they differ."""
    if page is None or title is None or title.casefold() == page.casefold():
        return title or page
    return f"{page} › {title}"


@dataclass(frozen=True, slots=True)
class Subject:
    """One of the things that a question is about."""

    text: str
    """The subject as the question names it."""
    hits: tuple[str, ...]
    """The ids of the hits that mention the subject, the best first."""


@dataclass(frozen=True, slots=True)
class Recall:
    """The answer to a question, read from the state after `size` events of the journal."""

    query: str
    core: str
    """The question without phrases such as "tell me about", and with the names of `matched` replaced."""
    terms: tuple[str, ...]
    """The terms of the question that were looked up in the index."""
    entities: tuple[str, ...]
    """The entities of the question that were also searched for one by one; empty if enough atoms cover it."""
    bridges: tuple[Bridge, ...]
    """The tags through which hits were found. The tag that added most to the scores of hits comes first."""
    hits: tuple[Hit, ...]
    size: int
    candidates: int
    """The number of atoms that pass the filters."""
    target: int
    """The number of hits that recall aims at: the limit, or fewer if the budget is small.

    Without a budget, it is the largest number of hits. With a budget, there may be more hits, up to the
    limit."""
    budget: int | None
    tokens: int
    """The sum of the tokens of all hits. With a budget, it is at most the budget."""
    pipeline: str
    """The name and version of the rules that analysed the question."""
    dropped: tuple[Dropped, ...] = ()
    subjects: tuple[Subject, ...] = ()
    """The subjects of the question that share the hits; empty unless atoms mention at least two of them."""
    folded: int = 0
    """The number of candidates that are not hits because there are enough hits of their pages."""
    matched: tuple[MatchedName, ...] = ()
    """The names that were probably misspelled, in the order of the question."""
    unknown_tags: tuple[str, ...] = ()
    """The tags that the filters require and that no atom has."""

    @property
    def notes(self) -> list[str]:
        """What people and models should know about the answer besides its hits."""
        return notes_of(self.matched, self.unknown_tags)

    def leads(self) -> tuple[str, ...]:
        """Return the ids of the best hits of the subjects of the question, the best first.

        A hit that mentions several subjects counts for each of them. If one hit mentions all, or the question
        has no subjects, the result is empty.
        """
        lacking = [frozenset(subject.hits) for subject in self.subjects if subject.hits]
        found = []
        for hit in self.hits:
            if any(hit.id in ids for ids in lacking):
                found.append(hit.id)
                lacking = [ids for ids in lacking if hit.id not in ids]
        return tuple(found) if len(found) > 1 else ()
