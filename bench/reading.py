"""Measure reading: recall, opening and memory use, and check that fast answers are also correct.

Question: how long does the first question of six words take, and how long does a later one; how long does
    opening take; how much memory does a program that asks questions use; and do the answers contain the
    evidence (LoCoMo, share of the evidence among the first ten hits)?
Data: the stores that `bench.writing` filled; `bench.data.questions`; the shared LoCoMo conversations.
Seed: the job's.
How: each measurement runs in a fresh process, whose libraries are imported before the clock starts (`process`
    includes the imports). A question returns ten hits with text. memroot and the rival get the same
    questions. `first` is the first question after opening, the median of five openings: memroot has cached
    nothing, and the operating system has cached all files.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from tempfile import mkdtemp

from bench import data
from bench.data import LOCOMO
from bench.job import Job, Result, disk_bytes, percentile, resident, timed
from bench.retrieval.judge import WARM_UP, figures, judge
from bench.retrieval.lexical_rivals import System, fts
from bench.retrieval.ours import memroot
from bench.retrieval.sets import read_set
from bench.rivals import open_rival
from bench.writing import warm_up
from engine import Engine
from engine.query.recall.recall_config import RecallConfig

LIMIT = 10
OPENINGS = 5
"""How often a store is opened to measure the first question."""
ASKED = 300
"""The number of questions before memory is measured."""


def recall(job: Job) -> Result:
    """Measure memroot's answers to the first question and to others after a warm-up."""
    warm_up()

    @contextmanager
    def opened() -> Iterator[Callable[[str], object]]:
        with Engine.open(job.store, create=False) as engine:
            yield lambda question: engine.recall(question, limit=LIMIT)

    return _ask(job, opened)


def recall_rival(job: Job) -> Result:
    """Measure the rival's answers to the same questions that memroot is asked."""

    @contextmanager
    def opened() -> Iterator[Callable[[str], object]]:
        with open_rival(job.against, job.rival) as store:
            yield lambda question: store.recall(question, LIMIT)

    return _ask(job, opened)


def _ask(job: Job, opened: Callable[[], AbstractContextManager[Callable[[str], object]]]) -> Result:
    questions = data.questions(WARM_UP + (100 if job.quick else 300), job.seed)
    first = []
    for question in questions[:OPENINGS]:
        with opened() as ask:
            first += timed(ask, [question])
    with opened() as ask:
        counted = timed(ask, questions)[WARM_UP:]
    return {
        "first_ms": percentile(first, 0.5),
        "p50_ms": percentile(counted, 0.5),
        "p99_ms": percentile(counted, 0.99),
        "questions": len(counted),
    }


def opening(job: Job) -> Result:
    """Open and close memroot's store seven times."""
    warm_up()
    return _open_times(timed(lambda url: Engine.open(url, create=False).close(), [job.store] * 7))


def opening_rival(job: Job) -> Result:
    """Open the rival's store and close it, seven times."""

    # Opening FTS5 reads the last number, and therefore a row and the schema.
    def opened(path: Path) -> None:
        with open_rival(job.against, path):
            pass

    return _open_times(timed(opened, [job.rival] * 7))


def _open_times(took: list[float]) -> Result:
    return {"first_ms": took[0], "p50_ms": percentile(took, 0.5)}


_RIVALS = (
    "import sys\nfrom pathlib import Path\nfrom bench.rivals import open_rival\n"
    "with open_rival(sys.argv[1], Path(sys.argv[2])) as store: print(store.recall(sys.argv[3]))"
)


def process(job: Job) -> Result:
    """Run `engine recall`, `engine root` and a Python that only imports memroot, each as a new process."""
    (question,) = data.questions(1, job.seed)
    engine = ["-m", "engine", "--store", job.store, "--quiet"]
    return {
        "p50_ms": _process([*engine, "recall", question]),
        "root_ms": _process([*engine, "root"]),
        "import_ms": _process(["-c", "import engine"]),
        "python_ms": _process(["-c", "pass"]),
    }


def process_rival(job: Job) -> Result:
    """Start Python, import the rival, open its store, print the answer to one question, close it and exit."""
    (question,) = data.questions(1, job.seed)
    return {"p50_ms": _process(["-c", _RIVALS, job.against, str(job.rival), question])}


def _process(arguments: list[str]) -> float:
    """Return the median time of a new Python process with these arguments, in milliseconds."""
    command = [sys.executable, *arguments]
    took = timed(lambda _: subprocess.run(command, check=True, stdout=subprocess.DEVNULL), range(9))
    return percentile(took, 0.5)


def memory(job: Job) -> Result:
    """Measure the memory of a process that has opened memroot's store and asked 300 questions."""
    warm_up()
    before = resident()
    with Engine.open(job.store, create=False) as engine:
        opened = resident()
        for question in data.questions(ASKED, job.seed):
            engine.recall(question, limit=LIMIT)
        return _memory(before, opened)


def memory_rival(job: Job) -> Result:
    """Measure the memory of a process that has asked the rival 300 questions."""
    before = resident()
    with open_rival(job.against, job.rival) as store:
        opened = resident()
        for question in data.questions(ASKED, job.seed):
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
    """Return the size of memroot's files, and the size of each family of rows (keys and values), in bytes."""
    from engine.ledger.layout import family_of

    families: dict[str, int] = {}
    with Engine.open(job.store, create=False) as engine, engine.store.backend.snapshot() as rows:
        for key, value in rows.scan():
            family = family_of(key)
            families[family] = families.get(family, 0) + len(key) + len(value)
    return {"files_bytes": disk_bytes(job.store), "families_bytes": families}


def disk_rival(job: Job) -> Result:
    """Return, in bytes, the size of the rival's files, and the size of the texts alone as UTF-8."""
    texts = sum(len(text.content.encode()) for text in data.texts(job.size, job.seed))
    return {"files_bytes": disk_bytes(job.rival), "texts_bytes": texts}
