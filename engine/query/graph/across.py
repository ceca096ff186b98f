"""Paths between names of different domains, such as a person, a technology and a place.

    question ─▶ names (given, or of the hits) ─▶ names in between ─▶ steps with evidence ─▶ best paths

A step joins two names: by a relation between their entities, or by an atom that has both names. The strength
of a path is the product of the strengths of its steps and of the rarities of the names in between. So a name
that many atoms have is a weak link, but still a link.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, islice
from math import log
from typing import Final, NamedTuple

from backends.base import Reader
from engine.base.validation import PROVENANCES, positive, show_id
from engine.followers.tags import members
from engine.ledger.entities import ENTITY
from engine.ledger.queries import bodies_of, record_at, records_of
from engine.ledger.records import AtomRecord, read_atom
from engine.query.filters import NO_FILTERS, Filters, allowed, maybe_superseded, meets_categories
from engine.query.graph.bright import LEAST
from engine.query.graph.domain_paths import (
    AcrossGraph,
    AcrossPath,
    DomainNode,
    Evidence,
    PathStep,
    StepKind,
    Way,
    ranked,
    ways_between,
)
from engine.query.graph.domains import Domain, ReadText, domain_of, domains_in, read_text
from engine.query.graph.name_reader import Link, Name, NameReader, together
from engine.query.recall.recall import recall
from engine.query.recall.superseded import SupersededAtoms
from engine.query.view import View
from engine.text.analyzer import index_terms
from engine.text.language.snippets import Snippets
from proofs.leaves import EdgeType, Group, State

PATHS_MAX: Final = 50
"""The largest number of paths in an answer."""
HITS: Final = 20
"""The number of hits whose names are ends of paths."""
ENDS_MAX: Final = 24
"""The largest number of names that can be ends of paths."""
BETWEEN_MAX: Final = 64
"""The largest number of names in between that are considered."""
ATOMS_OF_END: Final = 48
"""The number of atoms of each end that are searched for names in between."""
ENTITIES_MAX: Final = 256
"""If a question gives only domains, this many entities are considered as ends of paths."""
ATOMS_MAX: Final = 4096
"""The largest number of atoms with several names that are considered as evidence."""
TEXTS_READ: Final = 6
"""The number of texts that are read to find the domain of a name."""
SNIPPET_CHARS: Final = 160
"""The largest number of characters of a snippet."""

_RELATED: Final = EdgeType.RELATED_TO.name.lower()


class _Step(NamedTuple):
    """A step between two names before its evidence is read."""

    relation: str | None
    subject: str
    strength: float
    evidence: AtomRecord | None


def across(rows: Reader, view: View, query: str, limit: int, filters: Filters = NO_FILTERS) -> AcrossGraph:
    """Return at most `limit` (1 to 50) paths between names of different domains.

    If the question contains names, the paths join these names to each other; if no path does, each path
    begins at one of these names. If the question contains no name, the ends are the names of the atoms that
    answer the question best. If the question contains words for domains, such as person or place, the other
    ends belong to these domains. Only atoms that pass `filters` are evidence.

    `rows` is a snapshot of `view`, with records, tags, index and names at the head.

    Raises:
        InvalidInputError: the limit or a filter is out of range, or the query has no word to search for.
        CorruptionError: a row is malformed or missing, or two rows contradict each other.
    """
    positive(limit, "limit", PATHS_MAX)
    answer = recall(rows, view, query, limit=HITS, filters=filters, per_page=0)
    search = _Search(rows, view, filters, [hit.id for hit in answer.hits])
    wanted = domains_in(query)
    given = search.reader.in_question(query)
    given = [*given, *search.reader.written(query, given)][:ENDS_MAX]
    for name in given:
        search.reader.add_texts(name)
    ends = search.ends(given, anywhere=bool(wanted) and not given)
    names = [*ends, *search.between(ends)]
    steps = search.steps(names)
    domains = {name.identity: search.domain(name) for name in names}
    listed = {name.identity for name in given}
    ends_joined = [
        name.identity
        for name in (names if given else ends)
        if name.identity in listed
        or (domains[name.identity] is not Domain.THING and (not wanted or domains[name.identity] in wanted))
    ]
    strengths = {pair: step.strength for pair, step in steps.items()}
    rarities = {name.identity: search.rarity(name) for name in names}
    ways = list(ways_between(ends_joined, listed, domains, strengths, rarities))
    joined = [way for way in ways if listed.issuperset((way.names[0], way.names[-1]))]
    ranked_ways = ranked(joined or ways, domains)
    by_identity = {name.identity: name for name in names}
    paths = tuple(search.path(way, by_identity, steps, domains) for way in ranked_ways[:limit])
    shown = dict.fromkeys([*listed, *(name for way in ranked_ways[:limit] for name in way.names)])
    order = list(Domain)
    nodes = sorted(
        (search.node(by_identity[name], domains[name], name in listed) for name in shown),
        key=lambda node: (order.index(node.domain), not node.given, -node.atoms, node.name),
    )
    return AcrossGraph(answer.query, tuple(nodes), paths, answer.size, max(0, len(ranked_ways) - limit))


class _Search:
    """One search for paths: the snapshot, and the atoms that may be evidence."""

    def __init__(self, rows: Reader, view: View, filters: Filters, hits: Sequence[str]) -> None:
        self._rows = rows
        self._filters = filters
        self._allowed = allowed(rows, filters)
        self._live = allowed(rows, NO_FILTERS)
        index = view.store.index.view(rows)
        self.reader = NameReader(rows, index, view.store.identity.id_key, self._live)
        self._superseded = SupersededAtoms(rows, index, maybe_superseded(rows, filters))
        self._ranks = {bytes.fromhex(hit.replace("-", "")): rank for rank, hit in enumerate(hits)}
        self._passing: dict[bytes, AtomRecord | None] = {}
        self._read: dict[bytes, ReadText] = {}

    def ends(self, given: Sequence[Name], *, anywhere: bool) -> list[Name]:
        """Return the names that may be ends: the given names, then the names in the hits, best hit first.

        If `anywhere`, the names with the most atoms follow.
        """
        by_identity = {name.identity: name for name in given}
        for record in self._records(self._ranks):
            for name in self.reader.names_of(record):
                by_identity.setdefault(name.identity, name)
        if anywhere:
            for name in self._commonest():
                by_identity.setdefault(name.identity, name)
        ends = list(by_identity.values())[:ENDS_MAX]
        for name in ends:
            self.reader.connect(name)
        return ends

    def _commonest(self) -> list[Name]:
        """Return the entities with the most atoms and relations among the first `ENTITIES_MAX` entities."""
        entities = members(self._rows, (Group.KIND, ENTITY)) & self._live
        records = [record_at(self._rows, ordinal) for ordinal in islice(entities, ENTITIES_MAX)]
        names = [self.reader.name(body.content) for body in bodies_of(self._rows, records)]
        present = [name for name in names if name is not None]
        for name in present:
            self.reader.connect(name)
        return sorted(present, key=lambda name: (-len(name.atoms) - len(name.links), name.identity))

    def between(self, ends: Sequence[Name]) -> list[Name]:
        """Return the names that share atoms or relations with the ends.

        Names that share with the most ends come first.
        """
        reached: dict[str, set[str]] = {}
        by_identity: dict[str, Name] = {}
        for end in ends:
            beside = [other for link in end.links for other in (link.subject, link.object)]
            names = [self.reader.name(text) for text in beside]
            for record in self._records(self._best(end.atoms)[:ATOMS_OF_END]):
                names += self.reader.names_of(record)
            for name in names:
                if name is not None:
                    by_identity[name.identity] = name
                    reached.setdefault(name.identity, set()).add(end.identity)
        for end in ends:
            reached.pop(end.identity, None)
        between = sorted(reached, key=lambda identity: (-len(reached[identity]), identity))[:BETWEEN_MAX]
        for identity in between:
            self.reader.connect(by_identity[identity])
        return [by_identity[identity] for identity in between]

    def _best(self, atoms: Iterable[bytes]) -> list[bytes]:
        """Return the atoms in the order in which they answer the question, the best first."""
        return sorted(atoms, key=lambda atom: (self._ranks.get(atom, HITS), atom))

    def _records(self, atoms: Iterable[bytes]) -> list[AtomRecord]:
        """Return the records of the atoms that may be evidence."""
        wanted = list(atoms)
        new = [atom for atom in wanted if atom not in self._passing]
        for record in records_of(self._rows, new):
            self._passing[record.id] = record if self._passes(record) else None
        records = (self._passing[atom] for atom in wanted)
        return [record for record in records if record is not None]

    def _passes(self, record: AtomRecord) -> bool:
        return (
            record.state is State.LIVE
            and record.kind != ENTITY
            and record.ordinal in self._allowed
            and self._superseded.reason(record.ordinal) is None
            and meets_categories(self._rows, record, self._filters.categories)
        )

    def rarity(self, name: Name) -> float:
        """Return 1 - log(n) / log(N + 1) for a name of n atoms in a memory of N atoms, entities not counted.

        The result is 1 for a name of one atom, a half for a name of √N atoms, and almost 0 for a name that
        all atoms have.
        """
        total = max(2, self.reader.atoms)
        atoms = min(max(1, len(name.atoms)), total)
        return max(LEAST, round(1 - log(atoms) / log(total + 1), 6))

    def steps(self, names: Sequence[Name]) -> dict[tuple[str, str], _Step]:
        """Return the best step between each pair of names that a relation or an atom joins.

        The key holds the two identities in ascending order.
        """
        shared: dict[tuple[str, str], list[tuple[tuple[int, int, int, bytes], AtomRecord]]] = {}
        having = dict(islice(together(names).items(), ATOMS_MAX))
        for record in self._records(having):
            own_names = having[record.id]
            key = (self._ranks.get(record.id, HITS), _provenance(record), len(own_names), record.id)
            for pair in combinations(own_names, 2):
                shared.setdefault((pair[0], pair[1]), []).append((key, record))
        sizes = {name.identity: len(name.atoms) for name in names}
        steps: dict[tuple[str, str], _Step] = {}
        for pair, atoms in shared.items():
            share = len(atoms) / (1 + min(sizes[pair[0]], sizes[pair[1]]))
            _, best = min(atoms)
            steps[pair] = _Step(None, pair[0], _weighed(share, best), best)
        for link in dict.fromkeys(link for name in names for link in name.links):
            pair = min(link.subject, link.object), max(link.subject, link.object)
            if pair[0] in sizes and pair[1] in sizes:
                self._add_relation(steps, pair, link)
        return steps

    def _add_relation(self, found: dict[tuple[str, str], _Step], pair: tuple[str, str], link: Link) -> None:
        """Replace the step between two names by a relation, unless a better relation is there."""
        there = found.get(pair)
        stated = self._records([link.source] if link.source and read_atom(self._rows, link.source) else [])
        evidence = stated[0] if stated else (None if there is None else there.evidence)
        if evidence is None and self._filters != NO_FILTERS:
            return
        step = _Step(link.predicate, link.subject, _weighed(link.weight, evidence), evidence)
        if there is None or there.relation is None or _preference(step) < _preference(there):
            found[pair] = step

    def domain(self, name: Name) -> Domain:
        """Return the domain of a name."""
        return domain_of(
            name.text,
            None if name.entity is None else name.entity.title,
            [link.predicate for link in name.links if link.subject == name.identity],
            [link.predicate for link in name.links if link.object == name.identity],
            self._texts(self._best(name.atoms)),
        )

    def _texts(self, atoms: Sequence[bytes]) -> list[ReadText]:
        records = self._records(atoms[: 2 * TEXTS_READ])[:TEXTS_READ]
        new = [record for record in records if record.id not in self._read]
        for record, body in zip(new, bodies_of(self._rows, new), strict=True):
            self._read[record.id] = read_text(body.content, body.title)
        return [self._read[record.id] for record in records]

    def path(
        self,
        way: Way,
        names: Mapping[str, Name],
        steps: Mapping[tuple[str, str], _Step],
        domains: Mapping[str, Domain],
    ) -> AcrossPath:
        """Return a path with the evidence of its steps."""
        made = []
        for src, dst in zip(way.names, way.names[1:], strict=False):
            step = steps[min(src, dst), max(src, dst)]
            made.append(
                PathStep(
                    kind=StepKind.TOGETHER if step.relation is None else StepKind.RELATION,
                    src=names[src].text,
                    dst=names[dst].text,
                    relation=step.relation,
                    forward=step.relation is None or step.subject == src,
                    strength=step.strength,
                    evidence=self._evidence(step.evidence, names[src].text, names[dst].text),
                )
            )
        return AcrossPath(
            tuple(names[name].text for name in way.names),
            tuple(domains[name] for name in way.names),
            tuple(made),
            way.strength,
        )

    def _evidence(self, record: AtomRecord | None, *names: str) -> Evidence | None:
        if record is None:
            return None
        [body] = bodies_of(self._rows, [record])
        weights = dict.fromkeys((term for name in names for term in index_terms(name)), 1.0)
        snippet = Snippets(weights, SNIPPET_CHARS).around(body.content)
        return Evidence(show_id(record.id), record.title, snippet, record.provenance)

    def node(self, name: Name, domain: Domain, given: bool) -> DomainNode:
        """Return a name as a node of the answer."""
        id = None if name.entity is None else show_id(name.entity.id)  # noqa: A001
        return DomainNode(name.text, domain, id, name.tag, len(name.atoms), given)


def _provenance(record: AtomRecord) -> int:
    return PROVENANCES.index(record.provenance) if record.provenance in PROVENANCES else len(PROVENANCES)


def _weighed(strength: float, evidence: AtomRecord | None) -> float:
    rank = 0 if evidence is None else _provenance(evidence)
    shared: float = min(1.0, strength) / (1 << rank)
    return max(LEAST, round(shared, 6))


def _preference(step: _Step) -> tuple[bool, float, str, str]:
    """Return the order of relations between two names: `related_to` last, stronger relations first."""
    return step.relation == _RELATED, -step.strength, step.relation or "", step.subject
