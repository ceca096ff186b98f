"""Measure the relations that a dream finds in labelled texts: `python -m bench.labelled_relations`.

Question: how many of the relations that a dream adds are right, and how many of the labelled ones are found?
Data: `tests/knowledge/dreaming/labelled`, four memories of 80 to 100 atoms with the relations that people
    found.
How: each memory is dreamt once without and once with the installed pipeline for English. An edge is right if
    a label has its predicate and its ends. Names are compared by their aliases. Labels of which one end is a
    common noun are left out, because the dreamer relates names only, and so are predicates without labels. A
    relation that several texts state counts once. Relations of the writer (`I`) are counted apart, because
    the dreamer adds them only if a text names its writer.
"""

from __future__ import annotations

import argparse
from typing import NamedTuple

from bench.labelled import MEMORIES, read_memory
from engine import Engine
from engine.knowledge.dreaming.dream_config import DreamConfig
from engine.knowledge.dreaming.pipeline import AUTO, NONE, find_pipeline
from engine.knowledge.dreaming.relations import SYMMETRIC

WRITER = "i"
LABELLED = SYMMETRIC | {
    *(
        "parent_of",
        "works_at",
        "manages",
        "studies_at",
        "lives_in",
        "born_in",
        "located_in",
        "part_of",
        "owns",
    ),
    *("owns", "member_of", "created", "uses", "depends_on", "runs_on", "connects_to", "replaces"),
}
"""The predicates that have labels (see the labelled texts) and that the dreamer knows."""

Triple = tuple[str, str, str]


class Labelled(NamedTuple):
    """A memory of labelled atoms."""

    texts: list[str]
    relations: set[Triple]
    """Ends are canonical names or phrases, in lower case."""
    names: dict[str, str]
    """Name or alias in lower case → canonical name in lower case."""

    def end(self, text: str) -> str:
        """Return the canonical form of an end."""
        bare = text.lower().removeprefix("the ")
        spellings = (text.lower(), bare, f"the {bare}")
        return next((self.names[one] for one in spellings if one in self.names), bare)

    def is_same(self, one: str, other: str) -> bool:
        """Return True if two ends in canonical form are the same."""
        if one == other or one in self.names.values() or other in self.names.values():
            return one == other
        return one.endswith(f" {other}") or other.endswith(f" {one}")

    def is_found(self, triple: Triple, among: set[Triple]) -> bool:
        """Return True if a relation is in a set, in either direction if the predicate is symmetric."""
        subject, predicate, object_ = triple
        ways = [(subject, object_)] + ([(object_, subject)] if predicate in SYMMETRIC else [])
        return any(
            predicate == other[1] and self.is_same(one, other[0]) and self.is_same(two, other[2])
            for other in among
            for one, two in ways
        )


class Score(NamedTuple):
    """Counts of relations."""

    right: int
    wrong: set[Triple]
    missed: set[Triple]
    by_writer: set[Triple]
    """The labelled relations of the writer, which are not counted as missed."""

    @property
    def precision(self) -> float:
        """The share of the relations added that are right."""
        return self.right / max(1, self.right + len(self.wrong))

    @property
    def recall(self) -> float:
        """The share of the labelled relations that were found."""
        return self.right / max(1, self.right + len(self.missed))

    @property
    def recall_of_all(self) -> float:
        """The share of the labelled relations that were found, with those of the writer."""
        return self.right / max(1, self.right + len(self.missed) + len(self.by_writer))


def labelled(name: str) -> Labelled:
    """Return the labelled memory with this name."""
    given = read_memory(name)
    names = {one.lower(): one.lower() for text in given.texts for one in text["names"]}
    for canonical, others in given.aliases.items():
        names |= {one.lower(): canonical.lower() for one in (canonical, *others)}
    memory = Labelled([text["text"] for text in given.texts], set(), names)
    for text in given.texts:
        for subject, predicate, object_ in text["relations"]:
            ends = memory.end(subject), memory.end(object_)
            if {*names.values(), WRITER}.issuperset(ends):
                memory.relations.add((ends[0], predicate, ends[1]))
    return memory


def dreamt(memory: Labelled, pipeline: str) -> set[Triple]:
    """Return the relations that a dream adds to a memory of these texts."""
    with Engine.open("memory:") as engine:
        for text in memory.texts:
            engine.add(text)
        engine.dream(config=DreamConfig(pipeline=pipeline))
        found = engine.find(limit=10_000, form="full", kinds=["entity"])
        entities = {one.atom.id: one.atom.content for one in found if one.atom is not None}
        edges = {edge for entity in entities for edge in engine.edges(entity, limit=10_000)}
    return {
        (memory.end(entities[edge.src]), edge.type, memory.end(entities[edge.dst]))
        for edge in edges
        if edge.src in entities and edge.type in LABELLED
    }


def score(memory: Labelled, found: set[Triple]) -> Score:
    """Compare relations with the labels."""
    missed = {one for one in memory.relations if not memory.is_found(one, found)}
    wrong = {one for one in found if not memory.is_found(one, memory.relations)}
    by_writer = {one for one in missed if WRITER in (one[0], one[2])}
    return Score(len(memory.relations) - len(missed), wrong, missed - by_writer, by_writer)


def main() -> None:
    """Print a table, and with `--show` the relations that are wrong or missed."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    arguments.add_argument("sets", nargs="*", default=MEMORIES)
    arguments.add_argument("--show", action="store_true", help="Print what is wrong or missed.")
    wanted = arguments.parse_args()
    pipeline = find_pipeline(AUTO)
    print("| set | pipeline | right | wrong | missed | precision | recall | recall with the writer |")
    print("|---|---|---|---|---|---|---|---|")
    for name in wanted.sets:
        memory = labelled(name)
        for one in (NONE, *([] if pipeline is None else [pipeline.package])):
            found = score(memory, dreamt(memory, one))
            print(
                f"| {name} | {one} | {found.right} | {len(found.wrong)} | {len(found.missed)} "
                f"| {found.precision:.3f} | {found.recall:.3f} | {found.recall_of_all:.3f} |"
            )
            if wanted.show:
                print(*(f"wrong  {one}" for one in sorted(found.wrong)), sep="\n")
                print(*(f"missed {one}" for one in sorted(found.missed)), sep="\n")


if __name__ == "__main__":
    main()
