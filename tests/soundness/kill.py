"""Whether every check of the verifier is missed when it is gone: `python -m tests.soundness.kill`.

Each check is taken out in turn, in a process of its own, and the named rejects are run against what is left;
what they do not catch, the classes of mutations have to. A mutant that nobody catches must be in ARGUED.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, NamedTuple

from tests.soundness.mutants import MODULES, sites

ROOT: Final = Path(__file__).resolve().parents[2]
WORLDS: Final = ((0, 0), (1, 0), (2, 0), (3, 0), (24, 0), (24, 1), (257, 0))
"""Atoms and number of the stores whose proofs are changed."""

TIMEOUT_SECONDS: Final = 30
"""After which a mutant counts as one that does not end: it takes 1 to 10."""

BEFORE: Final = (
    "cbor2, or comparing with what it encodes again, refuses it too; this is so that it is not decoded"
)
TYPES: Final = "never so: said for the type checker"
ARGUED: Final[dict[str, str]] = {
    "strict_cbor._check_heads: at > len(raw)": BEFORE,
    "strict_cbor._check_heads: at < len(raw)": BEFORE,
    "strict_cbor._number: end > len(raw) or number < _LEAST[info - 24]": BEFORE,
    "strict_cbor._number: end > len(raw)": BEFORE,
    "strict_cbor._number: number < _LEAST[info - 24]": BEFORE,
    "strict_cbor.path_of: type(raw) is not bytes": TYPES,
    "file.decode: type(whole[1]) is not int": "true and 1.0 equal 1, and `strict` lets neither in",
    "codec.unpack: not same": "`strict` has seen every head before; needed where stores are read",
    "codec.decode_header: value[1] != seq": "a header is read at its own seq; needed where stores are read",
    "heads.checkpoint_in: recorded_root(header)": "both that call it ask for the root themselves",
    "heads.header_in: type(seq) is not int": "decode_header refuses the same, and as `header`",
    "heads.needed: opening is None": TYPES,
    "log_paths._both_roots: not last": "a hash too many is hashed into the older root, which then is another",
    "opening._take: len(found) != count": "what is taken is counted, and `finish` refuses more than there is",
    "verifier._leaf_claim: raise at the end": TYPES,
    "verifier._list_claim: index is None": TYPES,
    "verifier._list_claim: raise at the end": TYPES,
}
"""Mutant that survives → why its check is not needed for soundness, and why it stays."""


class Outcome(NamedTuple):
    """What became of a mutant."""

    name: str
    rejects: dict[str, str]
    classes: dict[str, str]

    @property
    def caught(self) -> bool:
        """Whether anything saw it."""
        return bool(self.rejects or self.classes)

    @property
    def unsound(self) -> bool:
        """Whether something wrong was accepted, or something else than ProofError raised."""
        return bool({"accepted", "raised", "hangs"} & {*self.rejects.values(), *self.classes.values()})


def write_corpus(path: Path) -> None:
    """Write honest proofs and all cases of the named rejects to a file."""
    import tests.soundness.all_rejects  # noqa: F401  fills the register
    from tests.soundness.rejects import REJECTS
    from tests.soundness.support import items
    from tests.soundness.wire import dump

    honest = [item for atoms, store in WORLDS for item in items(atoms, store).values()]
    cases = [(name, case) for name, make in REJECTS.items() for case in make()]
    path.write_bytes(dump(honest, cases))


def outcomes(modules: Iterable[str] = MODULES, workers: int = 2) -> list[Outcome]:
    """Every mutant of the modules, tried."""
    with tempfile.TemporaryDirectory() as folder:
        corpus = Path(folder) / "corpus"
        write_corpus(corpus)
        jobs = [(corpus, module, number) for module in modules for number in range(len(sites(module)))]
        with ThreadPoolExecutor(workers) as pool:
            return list(pool.map(_tried, jobs))


def _tried(job: tuple[Path, str, int]) -> Outcome:
    corpus, module, number = job
    name = sites(module)[number].name
    command = [sys.executable, "-m", "tests.soundness.kill_child", str(corpus), module, str(number)]
    try:
        made = subprocess.run(
            command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=TIMEOUT_SECONDS
        )
    except subprocess.TimeoutExpired:
        return Outcome(name, {"all": "hangs"}, {})
    if made.returncode:
        # A verifier that cannot even be imported or asked is seen by every test.
        return Outcome(name, {"all": "raised"}, {})
    found: dict[str, Any] = json.loads(made.stdout)
    return Outcome(name, found["rejects"], found["classes"])


def table(found: Sequence[Outcome]) -> str:
    """What is caught by what, and what survives."""
    lines = []
    for one in found:
        by = ", ".join(f"{name} ({how})" for name, how in sorted({**one.rejects, **one.classes}.items()))
        note = ARGUED.get(one.name, "SURVIVES")
        lines.append(f"{one.name}\n    {by if one.caught else note}")
    by_reject: dict[str, int] = {}
    for one in found:
        for name in one.rejects:
            by_reject[name] = by_reject.get(name, 0) + 1
    lines += ["", "named reject: mutants that it catches"]
    lines += [f"{name}: {count}" for name, count in sorted(by_reject.items())]
    caught, unsound = sum(one.caught for one in found), sum(one.unsound for one in found)
    argued = sum(not one.caught and one.name in ARGUED for one in found)
    lines += [
        "",
        f"{len(found)} mutants: {caught} caught ({unsound} by more than another reason), {argued} argued",
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    print(table(outcomes(sys.argv[1:] or MODULES)))  # noqa: T201  a report for the terminal
