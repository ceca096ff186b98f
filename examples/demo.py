"""A demonstration on the pages of this project: `make demo`.

The program ingests README, SPEC and docs into a store on disk, answers three questions, reads the root, and
verifies that the store matches its journal. Then it makes a proof that no page mentions a certain word, and
verifies the proof without the store. A second run ingests nothing, because no page has changed.
"""

import sys
from pathlib import Path

from engine import Engine
from proofs import verify

PROJECT = Path(__file__).resolve().parent.parent
PAGES = [PROJECT / "README.md", PROJECT / "SPEC.md", PROJECT / "CHANGELOG.md", PROJECT / "docs"]
ABSENT = "unicycle"
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
        root = engine.root().root
        print(f"Root: {root}")
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
    return 0 if checked.ok else 4


if __name__ == "__main__":
    sys.exit(main(sys.argv[1] if len(sys.argv) > 1 else "demo-store"))
