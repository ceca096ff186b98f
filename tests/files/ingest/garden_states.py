"""The garden at three past states that are made from it, ingested one after the other.

    python -m tests.files.ingest.garden_states

An older state lacks some of the files. In some others, paragraphs are missing, stand elsewhere, have other
words, or are still in another file; some have an older name. What is changed depends only on the path of the
file. Between the ingests, atoms are tagged, linked and revised by hand.
"""

from __future__ import annotations

import shutil
import sys
import tarfile
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from engine import Engine, IngestReport
from engine.base.model import Atom
from engine.followers.tags import members
from engine.ledger.queries import atom_of, record_at
from proofs.leaves import Group, State
from tests.support.shared_data import SHARED

ARCHIVE: Final = "data/garden.tar.gz"
STATES: Final = (1, 2, 3)
ABSENT: Final = {1: 0.3, 2: 0.1, 3: 0.0}
"""State → the share of files that are not there yet."""
ALTERED: Final = {1: 0.4, 2: 0.2, 3: 0.0}
RENAMED: Final = {1: 0.06, 2: 0.03, 3: 0.0}
ELSEWHERE: Final = {1: 0.06, 2: 0.03, 3: 0.0}
"""State → the share of files whose last paragraph is still at the end of the next file."""
TAGGED: Final = 400
LINKED: Final = 200
REVISED: Final = 100


@dataclass
class Step:
    """The ingest of one state."""

    report: IngestReport
    live: int
    """The number of live atoms."""
    same: int
    """The number of atoms that are live before and after the ingest."""


@dataclass
class Outcome:
    """The ingests of all states, and what was made by hand in between."""

    steps: list[Step] = field(default_factory=list)
    tags: dict[str, set[str]] = field(default_factory=dict)
    links: set[tuple[str, str]] = field(default_factory=set)
    revised: dict[str, str] = field(default_factory=dict)


def unpack(folder: Path) -> Path:
    """Unpack the garden into a folder, and return its path there."""
    with tarfile.open(SHARED / ARCHIVE) as archive:
        archive.extractall(folder, filter="data")
    return folder / "garden"


def make_state(garden: Path, target: Path, state: int) -> None:
    """Write a state of the garden to `target`, which is replaced."""
    shutil.rmtree(target, ignore_errors=True)
    paths = sorted(path for path in garden.rglob("*.md") if path.is_file())
    texts: dict[Path, list[str]] = {}
    carried: list[str] = []
    for path in paths:
        name = path.relative_to(garden)
        # One number decides for all states, so a change that is undone in one state stays undone.
        chance = {
            what: Random(f"{what} {name}").random() for what in ("absent", "altered", "renamed", "moved")
        }
        if chance["absent"] < ABSENT[state]:
            continue
        paragraphs = path.read_text().split("\n\n")
        if chance["altered"] < ALTERED[state]:
            alter(paragraphs, Random(f"words {name}"))
        paragraphs, carried = [*paragraphs, *carried], []
        if chance["moved"] < ELSEWHERE[state] and len(paragraphs) > 2:
            carried = [paragraphs.pop()]
        if chance["renamed"] < RENAMED[state]:
            name = name.with_name(f"old {name.name}")
        texts[name] = paragraphs
    for name, paragraphs in texts.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text("\n\n".join(paragraphs))


def alter(paragraphs: list[str], random: Random) -> None:
    """Give paragraphs an older wording: one is missing, one stands elsewhere, or one has other words."""
    at = random.randrange(len(paragraphs))
    if random.random() < 0.3 and len(paragraphs) > 2:
        del paragraphs[at]
    elif random.random() < 0.3:
        paragraphs.insert(random.randrange(len(paragraphs)), paragraphs.pop(at))
    else:
        words = paragraphs[at].split(" ")
        words[random.randrange(len(words))] = "formerly"
        paragraphs[at] = " ".join(words)


def live_atoms(engine: Engine) -> dict[str, Atom]:
    """Return the live notes: id → atom."""
    store = engine.store
    with store.view(store.tags) as rows:
        found = [atom_of(rows, record_at(rows, ordinal)) for ordinal in members(rows, (Group.LIVE, ""))]
    return {atom.id: atom for atom in found if atom.kind == "note"}


def change_by_hand(engine: Engine, atoms: dict[str, Atom], outcome: Outcome, state: int) -> None:
    """Tag, link and revise some atoms."""
    random = Random(state)
    ids = sorted(set(atoms) - set(outcome.revised))
    for id_ in random.sample(ids, TAGGED):
        engine.tag(id_, f"mine-{state}")
        outcome.tags.setdefault(id_, set()).add(f"mine-{state}")
    for src, dst in zip(random.sample(ids, LINKED), random.sample(ids, LINKED), strict=True):
        if src != dst:
            engine.link(src, "related_to", dst)
            outcome.links.add((src, dst))
    for number, id_ in enumerate(random.sample(ids, REVISED)):
        outcome.revised[id_] = f"Revised by hand in state {state}, number {number}."
        engine.revise(id_, content=outcome.revised[id_])


def live_through(garden: Path, work: Path, engine: Engine) -> Outcome:
    """Ingest all states one after the other into an empty store, with changes by hand in between."""
    outcome, before = Outcome(), dict[str, Atom]()
    for state in STATES:
        make_state(garden, work / "garden", state)
        report = engine.ingest([work / "garden"], prune=True)
        after = live_atoms(engine)
        outcome.steps.append(Step(report, len(after), len(before.keys() & after.keys())))
        if state != STATES[-1]:
            change_by_hand(engine, after, outcome, state)
        before = after
    return outcome


def main() -> None:
    """Print the figures of docs/editing.md."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        garden = unpack(folder)
        (folder / "work").mkdir()
        with Engine.open(str(folder / "store")) as engine:
            outcome = live_through(garden, folder / "work", engine)
            gone = [id_ for id_ in outcome.tags if engine.get(id_).state is not State.LIVE]
        for state, step in zip(STATES, outcome.steps, strict=True):
            report = step.report
            sys.stdout.write(
                f"state {state}: {report.files:,} files, {step.live:,} live atoms: {step.same:,} kept, "
                f"{report.added:,} added; {report.revised:,} revised, {report.tombstoned:,} tombstoned, "
                f"{report.conflicts:,} conflicts\n"
            )
        sys.stdout.write(f"tagged by hand: {len(outcome.tags):,}, of these no longer live: {len(gone):,}\n")


if __name__ == "__main__":
    main()
