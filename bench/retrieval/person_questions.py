"""Ask the garden what a person would ask: `python -m bench.retrieval.person_questions`.

Question: is the right page among the first three hits, and does a snippet of them show the sentence that
    answers?
Data: the shared garden, and `garden_questions.jsonl`: sixty questions, each with the page and a part of the
    sentence, written from the pages before the ranking was changed. Seed: 1, for the salts.
How: white space is compared as single spaces.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Final

from bench.data import unpack_garden
from bench.retrieval.ours import open_store

QUESTIONS: Final = Path(__file__).with_name("garden_questions.jsonl")
FIRST: Final = 3


def main() -> None:
    """Print the shares, and the questions without a right page or sentence."""
    work = Path(tempfile.mkdtemp(prefix="memroot-questions-"))
    try:
        files = unpack_garden(work / "files")
        if files is None:
            raise SystemExit("the shared garden is not available (set MEMROOT_SHARED)")
        asked = [json.loads(line) for line in QUESTIONS.read_text(encoding="utf-8").splitlines()]
        pages = sentences = first = 0
        with open_store(work / "store", [files], 1) as engine:
            for one in asked:
                hits = engine.recall(one["query"], limit=FIRST).hits
                right = [(hit.source or "").endswith(f"/vault/{one['page']}") for hit in hits]
                shown = any(_spaced(one["sentence"]) in _spaced(hit.snippet) for hit in hits)
                first += right[:1] == [True]
                pages += any(right)
                sentences += shown
                if not (any(right) and shown):
                    lacking = "sentence" if any(right) else "page"
                    print(f"no {lacking}: {one['query']} ({one['page']})", file=sys.stderr)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    count = len(asked)
    print(
        f"page first {first / count:.3f}, page in the first {FIRST} {pages / count:.3f}, "
        f"sentence in their snippets {sentences / count:.3f}, of {count} questions"
    )


def _spaced(text: str) -> str:
    return " ".join(text.split())


if __name__ == "__main__":
    main()
