"""A demonstration on the pages of this project: `make demo`.

The program ingests README, SPEC, docs and a chat into a store on disk, answers three questions, and dreams.
It shows what is connected with a person, the steps and costs of an exploration, the brightest atoms of a
question, and a mirror. It rebuilds the derived rows, compares the roots, and verifies that the store matches
its journal. Then it makes a proof that no page mentions a certain word, and verifies the proof without the
store. A second run ingests nothing, because no page has changed.
"""

import sys
from pathlib import Path

from engine import Engine
from proofs import verify

PROJECT = Path(__file__).resolve().parent.parent
PAGES = [PROJECT / "README.md", PROJECT / "SPEC.md", PROJECT / "CHANGELOG.md", PROJECT / "docs"]
ABSENT = "unicycle"
CHAT = PROJECT / "examples" / "chat.jsonl"
PERSON = "Lena"
ABOUT_CHAT = "Who has the keys of the lighthouse?"
QUESTIONS = [
    "What does the overall root commit to?",
    "How is a follower rebuilt after a crash?",
    "Which process may open a LevelDB store?",
]


def main(store: str) -> int:
    """Run the demonstration on the store at `store` and return the exit code."""
    with Engine.open(store) as engine:
        report = engine.ingest(PAGES, root=PROJECT, name="memroot")
        print(f"Ingested {report.files} files: {report.added} atoms added, {report.revised} revised,")
        print(f"{report.tombstoned} tombstoned, {report.linked} links. Store: {store}\n")
        for item in report.skipped:
            print(f"skipped {item.source}: {item.reason}")
        for question in QUESTIONS:
            print(f"? {question}")
            for hit in engine.recall(question, limit=2).hits:
                print(f"  {hit.score:6.3f}  {hit.source}  ({hit.title})")
                print(f"          {hit.snippet}")
            print()
        show_graph(engine, store)
        root = engine.root().root
        same = engine.rebuild().root == root
        print(f"Root: {root}, {'the same' if same else 'NOT the same'} after a rebuild")
        checked = engine.verify(expect=root)
        proof = engine.prove([["no-term", ABSENT]])
    verdict = "ok" if checked.ok else "FAILED"
    print(f"verify-root: {verdict}, {checked.size} events, {checked.rows} rows compared")
    (shown,) = verify(proof.data, proof.basis, proof.claims)
    fact = f"{type(shown).__name__}, shown by {len(proof.data)} bytes without the store"
    print(f"Proof: no page mentions {ABSENT!r}: {fact}\n")
    print("Try next:")
    print(f'  .venv/bin/engine --store {store} recall "your own question" --explain')
    print(f"  .venv/bin/engine --store {store} ingest PATH-TO-YOUR-NOTES")
    print(f"  .venv/bin/engine --store {store} log")
    print(f"  .venv/bin/engine --store {store} verify-root --expect {root}")
    print("\nThe same in a browser, which verifies what it shows:")
    print(f"  .venv/bin/engine --store {store} ui")
    return 0 if checked.ok and same else 4


def show_graph(engine: Engine, store: str) -> None:
    """Take in a chat, dream, and show relations, an exploration, bright atoms and a mirror."""
    engine.ingest([CHAT], root=PROJECT, name="memroot")
    dream = engine.dream()
    print(f"Dreamt: {dream.tags} tags, {len(dream.entities)} names, {dream.relations} relations")
    for one in engine.explorer().explore_neighbors(PERSON).triples[:5]:
        print(f"  {one.subject} -{one.predicate}-> {one.object}")
    for step in engine.explore(ABOUT_CHAT).steps:
        if step.action is not None:
            print(f"  {step.action.verb} {step.action.argument}: {step.outcome}, {step.cost} tokens")
    for node in engine.bright_nodes(ABOUT_CHAT, limit=3):
        print(f"  {node.brightness:.2f}  {node.snippet}")
    mirror = engine.mirror(Path(f"{store}-mirror").resolve())
    print(f"Mirror: {mirror.pages} pages of {mirror.atoms} atoms in {mirror.folder}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "demo-store"))
