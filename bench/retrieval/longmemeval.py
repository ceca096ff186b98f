"""Run the questions of LongMemEval: `python -m bench.retrieval.longmemeval FILE`.

Question: is the session that answers a question among the first hits?
Data: a file of LongMemEval (Wu et al. 2025), such as `longmemeval_s.json`, which is not part of this project.
    Seed: none.
How: each question has a memory of its own, with one atom for each turn. The hits are read as sessions, each
    session once. *Any* counts a question if one of its sessions is found, *all* if all of them are. Published
    figures differ in this, in whether turns or sessions are searched, and in whether assistants' turns are
    searched; these are figures of sessions, over the turns of both. Questions without an answer (`_abs`) are
    left out.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from bench.retrieval.measures import mean, reciprocal_rank_at
from bench.retrieval.retrieval_table import markdown
from engine import Add, Engine

DEPTHS: Final = (1, 3, 5, 10)
HITS: Final = 100
"""The number of hits that are read to get at least ten different sessions."""


def main() -> None:
    """Ask all questions of a file, and print the figures by type of question."""
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval.longmemeval")
    parser.add_argument("file", type=Path)
    parser.add_argument("--limit", type=int, help="ask only the first LIMIT questions")
    options = parser.parse_args()
    cases = json.loads(options.file.read_text(encoding="utf-8"))
    print(table(answers(cases[: options.limit])))


def answers(cases: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[str], frozenset[str]]]:
    """Yield the type of each question, the sessions that were found, and the sessions that answer it."""
    for case in cases:
        if not case["question_id"].endswith("_abs"):
            relevant = frozenset(case["answer_session_ids"])
            yield case["question_type"], sessions_found(case), relevant


def sessions_found(case: Mapping[str, Any]) -> list[str]:
    """Return the sessions of the hits for the question of a case, each once, the best first."""
    with Engine.open("memory:") as engine:
        columns = (case[f"haystack_{name}"] for name in ("session_ids", "dates", "sessions"))
        for name, date, turns in zip(*columns, strict=True):
            said = [(at, turn["content"]) for at, turn in enumerate(turns, 1) if turn["content"].strip()]
            engine.apply(
                [Add(text, source=name, sequence=at, created=_microseconds(date)) for at, text in said]
            )
        hits = engine.recall(case["question"], limit=HITS, per_page=0).hits
        return list(dict.fromkeys(hit.source for hit in hits if hit.source is not None))


def _microseconds(date: str) -> int:
    """Return the day of `2023/05/20 (Sat) 02:21` in µs."""
    year, month, day, hour, minute = map(int, re.findall(r"[0-9]+", date))
    return int(datetime(year, month, day, hour, minute, tzinfo=UTC).timestamp()) * 1_000_000


def table(found: Iterator[tuple[str, list[str], frozenset[str]]]) -> str:
    """Return a Markdown table with a line for each type of question, and one for all of them."""
    by_type: dict[str, list[tuple[list[str], frozenset[str]]]] = {}
    for kind, ranking, relevant in found:
        for name in (kind, "all"):
            by_type.setdefault(name, []).append((ranking, relevant))
    lines = []
    for kind, some in sorted(by_type.items()):
        first = [(relevant, [set(ranking[:depth]) for depth in DEPTHS]) for ranking, relevant in some]
        shares = [mean([float(bool(one & tops[at])) for one, tops in first]) for at in range(len(DEPTHS))]
        shares += [mean([float(one <= tops[at]) for one, tops in first]) for at in range(len(DEPTHS))]
        shares.append(mean([reciprocal_rank_at(10, ranking, relevant) for ranking, relevant in some]))
        lines.append((f"{kind} ({len(some)})", *(f"{share:.3f}" for share in shares)))
    headings = [f"{word} @{depth}" for word in ("any", "all") for depth in DEPTHS]
    return markdown(("type", *headings, "MRR@10"), lines)


if __name__ == "__main__":
    main()
