"""Mutation test of the verifier: `python -m tests.soundness.kill`.

Each check is removed in turn, in a process of its own, and the named rejects are run against the rest. The
classes of mutations must catch what the named rejects do not. A mutant that nothing catches must be listed in
ARGUED.
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
"""The number of atoms and the number of each store whose proofs are changed."""

TIMEOUT_SECONDS: Final = 30
"""The time after which a mutant counts as one that hangs; a run takes 1 to 10 seconds."""

BEFORE: Final = (
    "cbor2, or the comparison with the re-encoded bytes, refuses it too; the check comes before decoding"
)
TYPES: Final = "never true: needed by the type checker"
STORES: Final = "verification does not call this function; needed where stores are read and written"
ARGUED: Final[dict[str, str]] = {
    "proof_file._check_heads: at > len(raw)": BEFORE,
    "proof_file._check_heads: at < len(raw)": BEFORE,
    "proof_file._number: end > len(raw) or number < _LEAST[info - 24]": BEFORE,
    "proof_file._number: end > len(raw)": BEFORE,
    "proof_file._number: number < _LEAST[info - 24]": BEFORE,
    "proof_file.split_path: type(raw) is not bytes": TYPES,
    "proof_file.decode: type(whole[1]) is not int": "true and 1.0 equal 1, but `decode_strict` refuses both",
    "codec.unpack: not same": "`decode_strict` has checked every head; needed where stores are read",
    "codec.decode_header: value[1] != seq": "a header is read at its own seq; needed where stores are read",
    "basis.checkpoint_in: recorded_root(header)": "both callers read the root themselves",
    "basis.header_in: type(seq) is not int": "decode_header refuses the same for the same reason",
    "basis.require_opening: opening is None": TYPES,
    "leaves.decode_summary: not fits(summary, size)": STORES,
    "log.append: _check_leaf(leaf)": STORES,
    "log.root_of: _check_leaf(leaf)": STORES,
    "log._both_roots: not last": "an extra hash changes the older root",
    "smt._take: len(taken) != count": "the bytes taken are counted, and `finish` compares the count",
    "verifier._leaf_claim: raise at the end": TYPES,
    "verifier._list_claim: index is None": TYPES,
    "verifier._list_claim: raise at the end": TYPES,
}
"""Surviving mutant → why its check is not needed for soundness, and why the check stays."""


class Outcome(NamedTuple):
    """The result of running the tests against a mutant."""

    name: str
    rejects: dict[str, str]
    classes: dict[str, str]

    @property
    def caught(self) -> bool:
        """True if anything caught the mutant."""
        return bool(self.rejects or self.classes)

    @property
    def unsound(self) -> bool:
        """True if a wrong proof was accepted, or anything but ProofError was raised."""
        return bool({"accepted", "raised", "hangs"} & {*self.rejects.values(), *self.classes.values()})


def write_corpus(path: Path) -> None:
    """Write valid proofs and all cases of the named rejects to a file."""
    import tests.soundness.all_rejects  # noqa: F401  fills the register
    from tests.soundness.rejects import REJECTS
    from tests.soundness.support import items
    from tests.soundness.wire import dump

    honest = [item for atoms, store in WORLDS for item in items(atoms, store).values()]
    cases = [(name, case) for name, make in REJECTS.items() for case in make()]
    path.write_bytes(dump(honest, cases))


def outcomes(modules: Iterable[str] = MODULES, workers: int = 2) -> list[Outcome]:
    """Try every mutant of the modules and return the outcomes."""
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
        # A verifier that cannot even be imported fails every test.
        return Outcome(name, {"all": "raised"}, {})
    found: dict[str, Any] = json.loads(made.stdout)
    return Outcome(name, found["rejects"], found["classes"])


def table(found: Sequence[Outcome]) -> str:
    """Return a table of what catches each mutant, and of what survives."""
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
