"""Measure reading: recall, opening and memory use, and check that fast answers are also correct.

Question: how long do the first and later questions of six words take; how long does opening take; how much
    memory does a program that asks questions use; and do the answers contain the evidence (LoCoMo, share of
    the evidence among the first ten hits)?
Data: the stores that `bench.writing` filled; `bench.data.questions`; the shared LoCoMo conversations.
Seed: the job's.
How: each measurement runs in a fresh process, whose libraries are imported before the clock starts (`process`
    includes the imports). A question returns ten hits with text. memroot and the rival get the same
    questions. `first` is the first question after opening: memroot has cached nothing, and the operating
    system has cached all files.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import mkdtemp

from bench import data
from bench.job import Job, Result, disk_bytes, percentile, resident, timed
from bench.retrieval.judge import WARM_UP, figures, judge
from bench.retrieval.ours import memroot
from bench.retrieval.rivals import System, fts
from bench.retrieval.sets import LOCOMO, read_set
from bench.rivals import Fts
from bench.writing import warm_up
from engine import Engine
from engine.query.recall.config import RecallConfig

LIMIT = 10


def recall(job: Job) -> Result:
    """Measure memroot's answers to the first question and to others after a warm-up."""
    warm_up()
    with Engine.open(job.store, create=False) as engine:
        return _ask(job, lambda question: engine.recall(question, limit=LIMIT))


def recall_rival(job: Job) -> Result:
    """Measure the rival's answers to the same questions that memroot is asked."""
    with Fts(job.rival) as store:
        return _ask(job, lambda question: store.recall(question, LIMIT))


def _ask(job: Job, ask: Callable[[str], object]) -> Result:
    questions = data.questions(WARM_UP + (100 if job.quick else 300), job.seed)
    took = timed(ask, questions)
    counted = took[WARM_UP:]
    return {
        "first_ms": took[0],
        "p50_ms": percentile(counted, 0.5),
        "p99_ms": percentile(counted, 0.99),
        "questions": len(counted),
    }


def opening(job: Job) -> Result:
    """Open and close memroot's store seven times."""
    warm_up()
    return _open_times(timed(lambda url: Engine.open(url, create=False).close(), [job.store] * 7))


def opening_rival(job: Job) -> Result:
    """Open the rival's file, read one row and close it, seven times."""
    # Opening reads the last number, and therefore a row and the schema.
    return _open_times(timed(lambda path: Fts(path).close(), [job.rival] * 7))


def _open_times(took: list[float]) -> Result:
    return {"first_ms": took[0], "p50_ms": percentile(took, 0.5)}


_OURS = "from engine import Engine\nwith Engine.open(sys.argv[1], create=False) as e: e.recall(sys.argv[2])"
_RIVALS = "from bench.rivals import Fts\nwith Fts(Path(sys.argv[1])) as s: s.recall(sys.argv[2])"


def process(job: Job) -> Result:
    """Start Python, import memroot, open its store, ask one question, close the store and exit."""
    return _process(_OURS, job.store, job.seed)


def process_rival(job: Job) -> Result:
    """Start Python, import the rival, open its file, ask one question, close the file and exit."""
    return _process(_RIVALS, str(job.rival), job.seed)


def _process(program: str, path: str, seed: int) -> Result:
    (question,) = data.questions(1, seed)
    command = [sys.executable, "-c", f"import sys\nfrom pathlib import Path\n{program}", path, question]
    took = timed(lambda _: subprocess.run(command, check=True), range(5))
    return {"p50_ms": percentile(took, 0.5)}


def memory(job: Job) -> Result:
    """Measure the memory of a process that has opened memroot's store and asked 100 questions."""
    warm_up()
    before = resident()
    with Engine.open(job.store, create=False) as engine:
        opened = resident()
        for question in data.questions(100, job.seed):
            engine.recall(question, limit=LIMIT)
        return _memory(before, opened)


def memory_rival(job: Job) -> Result:
    """Measure the memory of a process that has asked the rival 100 questions."""
    before = resident()
    with Fts(job.rival) as store:
        opened = resident()
        for question in data.questions(100, job.seed):
            store.recall(question, LIMIT)
        return _memory(before, opened)


def _memory(before: int, opened: int) -> Result:
    # LevelDB maps its files into memory: their resident parts count in the first figure, not in the second.
    return {
        "imported_bytes": before,
        "opened_bytes": opened,
        "asked_bytes": resident(),
        "asked_own_bytes": resident("RssAnon"),
    }


def locomo(job: Job) -> Result:
    """Ingest each conversation into a separate store and ask the questions about it."""
    return _locomo(job, memroot(RecallConfig()))


def locomo_rival(job: Job) -> Result:
    """Load each conversation into a separate store of the rival and ask the questions about it."""
    return _locomo(job, fts(lambda question: question))


def _locomo(job: Job, system: System) -> Result:
    question_set = read_set(LOCOMO)
    work = Path(mkdtemp(dir=job.work))
    found = figures(judge(question_set, {"": system}, LIMIT, work, job.seed, lambda _: None)[""])
    return {
        "recall_at_10": found.measures["R@10"],
        "questions": found.questions,
        "texts": sum(len(memory.documents) for memory in question_set.memories),
        "p50_ms": found.p50_ms,
        "p99_ms": found.p99_ms,
    }


def disk(job: Job) -> Result:
    """Return the bytes of memroot's files, and the bytes of keys and values in each family of rows."""
    from engine.ledger.layout import family_of

    families: dict[str, int] = {}
    with Engine.open(job.store, create=False) as engine, engine.store.backend.snapshot() as rows:
        for key, value in rows.scan():
            family = family_of(key)
            families[family] = families.get(family, 0) + len(key) + len(value)
    return {"files_bytes": disk_bytes(job.store), "families_bytes": families}


def disk_rival(job: Job) -> Result:
    """Return the bytes of the rival's file, and of the texts alone as UTF-8."""
    texts = sum(len(text.content.encode()) for text in data.texts(job.size, job.seed))
    return {"files_bytes": disk_bytes(job.rival), "texts_bytes": texts}
