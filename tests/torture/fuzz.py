"""Random and guided changes of the examples of every decoder: `python -m tests.torture.fuzz`, or `make fuzz`.

With atheris, the changes are guided by the code that they reach. Without it, `torture` still tries random
changes that follow from a seed.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Final

from tests.support.long_runs import fuzz_in_turn, say
from tests.torture.decoders import DECODERS, corpus, outcome

FOREIGN: Final = "errors that are not the decoder's"
SLOW: Final = "slower than 1 s"
SLOW_SECONDS: Final = 1.0
BYTES_MAX: Final = 4096
ROOT: Final = Path(__file__).resolve().parents[2]
FINDINGS: Final = ROOT / "build" / "fuzz"
INTERESTING: Final = (
    b"\x00", b"\xff", b"\x7f", b"\x80", b"\xff\xff\xff\xff", b"\x1b\xff\xff\xff\xff\xff\xff\xff\xff", b"\x9b",
    b"\xbb", b"\x5f", b"\x9f", b"\xf6", b"\xf9\x7e\x00", b"\x81" * 40, b"\xc2\x41\x01", b"\n", b'"', b"{",
    b"[",     b"\\ud800", b"1e999", b"-0", b"\xed\xa0\x80", b"---\n", b"\xe2\x80\xae",
)  # fmt: skip
"""Bytes at which decoders tend to fail."""


def changed(raw: bytes, other: bytes, chosen: Random) -> bytes:
    """Return `raw` with one to four random changes; some splice in a part of `other`."""
    data = bytearray(raw)
    for _ in range(chosen.choice((1, 1, 2, 4))):
        at = chosen.randint(0, len(data))
        end = min(len(data), at + chosen.choice((1, 2, 8, 64)))
        match chosen.randrange(6):
            case 0 if data:
                data[min(at, len(data) - 1)] ^= 1 << chosen.randrange(8)
            case 1:
                del data[at:end]
            case 2:
                data[at:at] = chosen.choice(INTERESTING)
            case 3:
                data[at:end] = chosen.choice(INTERESTING)
            case 4:
                begin = chosen.randint(0, len(other))
                data[at:end] = other[begin : begin + chosen.choice((1, 8, 64))]
            case _:
                data[at:at] = data[at:end] * chosen.choice((1, 2, 9))
    return bytes(data[:BYTES_MAX])


def torture(name: str, seed: int, wanted: int, _folder: Path) -> tuple[Counter[str], list[str]]:
    """Decode `wanted` changed examples; return counts, and a line for each failure."""
    decoder = DECODERS[name]
    chosen = Random(f"fuzz {name} {seed}")
    kept = corpus(name) or [b""]
    counts: Counter[str] = Counter()
    told: list[str] = []
    for _ in range(wanted):
        raw = changed(chosen.choice(kept), chosen.choice(kept), chosen)
        counts["trials"] += 1
        begin = time.process_time()
        try:
            counts[outcome(decoder, raw)] += 1
        except Exception as error:  # noqa: BLE001  counted as a failure
            counts[FOREIGN] += 1
            told.append(f"{name}: {type(error).__name__}: {error}: {raw.hex()}"[:400])
        counts[SLOW] += time.process_time() - begin > SLOW_SECONDS
    return counts, told


def main() -> int:
    """Fuzz the given decoders, or all, one after the other; return 1 if an input was found that fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="the time for each decoder; default 60")
    parser.add_argument("decoders", nargs="*", metavar="DECODER", help="default: all")
    given = parser.parse_args()
    if find_spec("atheris") is None:
        say("NOT TESTED: atheris is not installed (`make fuzz` installs it where there is a wheel)")
        return 0

    def guided(name: str, seconds: int) -> bool:
        command = [sys.executable, "-m", "tests.torture.fuzz_guided", name, str(seconds)]
        return not subprocess.run(command, cwd=ROOT, check=False).returncode

    return fuzz_in_turn(given.decoders or DECODERS, lambda _: given.seconds, guided, FINDINGS)


if __name__ == "__main__":
    sys.exit(main())
