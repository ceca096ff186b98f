"""Measure the effect of dreaming on an untagged memory: `python -m bench.dreaming`.

Question: how much more of a memory does a walk reach after dreaming, what does dreaming add, how much of that
    is junk, and how does recall change?
Data: the sets of `bench.retrieval`, each memory ingested without changes. Seed: `--seed`, for the salts and
    for the choice of the garden's questions.
How: each memory is measured and copied. One dream cycle runs on the copy, and the copy is measured. For one
    question, reach is the share of all texts that are within 2 hops of the first 7 hits (7 is the number of
    anchors for ten hits). The figure is the mean over the questions. A hop leads to a text that shares a tag
    or has an edge. As in the walk, a tag is ignored if it is on more than 20 atoms and also on more than a
    tenth of all atoms. Junk is counted among the different tags that were added; categories are left out. A
    tag is junk if it is on only one atom or on more atoms than the walk follows. A tag of a single word is
    also junk if at least a fifth of the texts that contain the word write it differently, for example in
    lower case. The dreamer judges a word by a dozen texts; this measurement reads all texts.
"""

from __future__ import annotations

import argparse
import json
import shutil
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from bench import machine
from bench.question_sets import BUILT_IN, sets_of
from bench.retrieval.measures import mean, recall_at
from bench.retrieval.ours import open_engine, open_store, recall_with
from bench.retrieval.retrieval_table import markdown
from bench.retrieval.sets import Question, QuestionSet
from engine import Engine
from engine.base.model import Atom, Direction
from engine.knowledge.dreaming.dream_config import DreamConfig
from engine.knowledge.dreaming.tokenized_text import TokenizedText, Tokens, tokens_of_name
from engine.ledger.entities import ENTITY
from engine.query.recall.recall_config import RecallConfig
from engine.text.language.categories import Category
from proofs.events import EventKind
from proofs.leaves import State, tag_identity

ANCHORS = 7
HOPS = 2
HITS = 10
LIMITS = DreamConfig()
CATEGORIES = frozenset(category.value for category in Category)


@dataclass
class DreamResult:
    """The results for a set, summed over the memories of the set unless noted otherwise."""

    name: str
    texts: int = 0
    tagged_before: int = 0
    tagged: int = 0
    tags: int = 0
    """The number of pairs of a text and a tag that dreaming added."""
    different: int = 0
    """The number of different tags that dreaming added, not counting categories."""
    junk: int = 0
    entities: int = 0
    mentions: int = 0
    relations: int = 0
    seconds: float = 0.0
    reach_before: float = 0.0
    """The mean reach over the questions. The next five fields are means over the questions, too."""
    reach_after: float = 0.0
    recall_before: float = 0.0
    recall_after: float = 0.0
    five_before: float = 0.0
    five_after: float = 0.0
    better: int = 0
    worse: int = 0
    questions: int = 0


def measure(question_set: QuestionSet, work: Path, seed: int) -> DreamResult:
    """Return the results for a set."""
    found = DreamResult(question_set.name)
    before: list[tuple[float, float, float]] = []
    after: list[tuple[float, float, float]] = []
    for memory in question_set.memories:
        folder, dreamt = work / f"store-{memory.name}", work / f"dreamt-{memory.name}"
        with open_store(folder, [memory.files], seed) as engine:
            texts = _texts(engine)
            found.texts += len(texts)
            found.tagged_before += sum(bool(text.tags) for text in texts)
            before += _answers(engine, memory.questions)
        shutil.copytree(folder, dreamt)
        with open_engine(dreamt, seed) as engine:
            begin = time.perf_counter()
            report = engine.dream()
            found.seconds += time.perf_counter() - begin
            found.entities += len(report.entities)
            found.mentions += report.mentions
            found.relations += report.relations
            found.tags += report.tags
            found.tagged += report.tagged
            _count_junk(engine, found)
            after += _answers(engine, memory.questions)
        shutil.rmtree(dreamt)
    found.questions = len(before)
    for name, place in (("recall", 0), ("five", 1), ("reach", 2)):
        setattr(found, f"{name}_before", mean([one[place] for one in before]))
        setattr(found, f"{name}_after", mean([one[place] for one in after]))
    found.better = sum(new[0] > old[0] for old, new in zip(before, after, strict=True))
    found.worse = sum(new[0] < old[0] for old, new in zip(before, after, strict=True))
    return found


def _texts(engine: Engine) -> list[Atom]:
    added = (item.subject for item in engine.log() if item.kind is EventKind.ATOM_ADDED)
    atoms = (engine.get(atom) for atom in added)
    return [atom for atom in atoms if atom.state is State.LIVE and atom.kind != ENTITY]


def _answers(engine: Engine, questions: Sequence[Question]) -> list[tuple[float, float, float]]:
    """Return (recall at 10, recall at 5, share of the texts that a walk reaches) for each question."""
    ask, around, config = recall_with(engine, RecallConfig()), _Neighborhood(engine), RecallConfig()
    engine.view.config = config
    answers = []
    for question in questions:
        ranking = ask(question.text, HITS)
        reached = around.reach(ranking[:ANCHORS])
        answers.append(
            (recall_at(10, ranking, question.relevant), recall_at(5, ranking, question.relevant), reached)
        )
    return answers


class _Neighborhood:
    """A graph of texts that are connected by shared tags and by edges."""

    def __init__(self, engine: Engine) -> None:
        texts = _texts(engine)
        self._total = len(texts)
        self._names = {atom.key or atom.id: atom.id for atom in texts}
        self._texts = {atom.id for atom in texts}
        by_tag: dict[str, list[str]] = defaultdict(list)
        for atom in texts:
            for tag in atom.tags:
                by_tag[tag_identity(tag)].append(atom.id)
        most = max(LIMITS.hub_min, LIMITS.hub_share * len(texts))
        self._next: dict[str, set[str]] = defaultdict(set)
        self._tags = {tag: atoms for tag, atoms in by_tag.items() if 1 < len(atoms) <= most}
        self._tags_of: dict[str, list[str]] = defaultdict(list)
        for tag, atoms in self._tags.items():
            for one in atoms:
                self._tags_of[one].append(tag)
        for atom in texts:
            for edge in engine.edges(atom.id, direction=Direction.OUT):
                self._next[edge.src].add(edge.dst)
                self._next[edge.dst].add(edge.src)

    def reach(self, anchors: Sequence[str]) -> float:
        """Return the share of all texts that are within two hops of `anchors`, not counting the anchors."""
        begin = {self._names.get(name, name) for name in anchors}
        seen, frontier, tags = set(begin), set(begin), set[str]()
        for _ in range(HOPS):
            new: set[str] = set()
            for one in frontier:
                new |= self._next.get(one, set())
                for tag in self._tags_of.get(one, ()):
                    if tag not in tags:
                        tags.add(tag)
                        new.update(self._tags[tag])
            frontier = new - seen
            seen |= frontier
        return len((seen - begin) & self._texts) / self._total


def _count_junk(engine: Engine, found: DreamResult) -> None:
    texts = _texts(engine)
    pages = [TokenizedText(text.title, text.content, LIMITS.chars) for text in texts]
    words: dict[str, list[int]] = defaultdict(list)
    for number, page in enumerate(pages):
        for word in set(page.words):
            words[word].append(number)
    most = max(LIMITS.hub_min, LIMITS.hub_share * len(texts))
    for tag, count in _added_tags(engine).items():
        if tag_identity(tag) in CATEGORIES:
            continue
        found.different += 1
        tokens = tokens_of_name(tag)
        other = 0.0
        if len(tokens.words) == 1:
            with_word = [pages[number] for number in words[tokens.words[0]]]
            other = sum(_writes_differently(page, tokens) for page in with_word)
            other -= len(with_word) * LIMITS.lower_share
        found.junk += count < LIMITS.atoms_min or count > most or other > 0


def _writes_differently(page: TokenizedText, tokens: Tokens) -> bool:
    """Return True if a text has the word in a spelling that differs from the tag."""
    return any(page.surfaces[at] != tokens.surfaces[0] for at in page.places(tokens.words))


def _added_tags(engine: Engine) -> dict[str, int]:
    """Return the tags that the dreamer added, with the number of atoms that now have each tag."""
    found = engine.tags()
    counts = Counter(found.people) + Counter(found.dreamer)
    added = set[str]()
    for item in engine.log():
        tags = item.detail.get("tags")
        if item.actor == "dreamer" and item.kind is EventKind.TAGS_ADDED and isinstance(tags, list):
            added.update(map(str, tags))
    return {tag: counts[tag_identity(tag)] for tag in sorted(added)}


def table(results: Sequence[DreamResult]) -> str:
    """Return a table with one column for each set."""
    rows = [
        ("texts", *(f"{one.texts:,}" for one in results)),
        ("tagged before, by the dream", *(f"{one.tagged_before:,}, {one.tagged:,}" for one in results)),
        ("tags added for each tagged", *(f"{one.tags / max(1, one.tagged):.1f}" for one in results)),
        ("entities, mentions", *(f"{one.entities:,}, {one.mentions:,}" for one in results)),
        ("relations between entities", *(f"{one.relations:,}" for one in results)),
        ("reach of a walk, before", *(f"{one.reach_before:.1%}" for one in results)),
        ("– after", *(f"{one.reach_after:.1%}" for one in results)),
        ("junk among different tags", *(f"{one.junk:,} of {one.different:,}" for one in results)),
        ("R@10, before", *(f"{one.recall_before:.4f}" for one in results)),
        ("– after", *(f"{one.recall_after:.4f}" for one in results)),
        ("– questions better, worse", *(f"{one.better}, {one.worse} of {one.questions}" for one in results)),
        ("R@5, before", *(f"{one.five_before:.4f}" for one in results)),
        ("– after", *(f"{one.five_after:.4f}" for one in results)),
        ("texts a second", *(f"{one.texts / one.seconds:,.0f}" for one in results)),
    ]
    return markdown(("", *(one.name for one in results)), rows)


def main() -> None:
    """Parse the command line, run the measurements and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("sets", nargs="*", help=f"folders of questions, or: {', '.join(BUILT_IN)}")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="print the raw results as JSON")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        where = machine.describe(Path(folder))
        results = [
            measure(one, Path(folder), options.seed)
            for one in sets_of(options.sets, Path(folder), options.seed)
        ]
    if options.json:
        print(json.dumps({"machine": where, "results": [asdict(one) for one in results]}))
        return
    print(f"seed {options.seed}, commit {where['commit']}, {where['cpu']}, {where['cores']} cores")
    print(f"load {where['load']} at the start\n")
    print(table(results))


if __name__ == "__main__":
    main()
