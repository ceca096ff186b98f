"""Fuzzes one decoder with atheris: `python -m tests.torture.fuzz_guided NAME SECONDS`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

import atheris

# Only what is imported here is instrumented.
with atheris.instrument_imports(include=["engine", "proofs"]):
    from tests.torture.decoders import CORPUS, DECODERS, corpus, outcome

FOUND: Final = Path(__file__).resolve().parents[2] / "build" / "fuzz"
BYTES_MAX: Final = 4096


def main(name: str, seconds: str) -> None:
    """Fuzz; an input that fails is written to build/fuzz, and ends the process with an exit code above 0."""
    decoder, found = DECODERS[name], FOUND / name
    found.mkdir(parents=True, exist_ok=True)

    def decode(raw: bytes) -> None:
        outcome(decoder, raw)

    options = [f"-max_total_time={seconds}", f"-max_len={BYTES_MAX}", f"-artifact_prefix={found}/"]
    folders = [str(found), *([str(CORPUS / name)] if corpus(name) else [])]
    atheris.Setup([sys.argv[0], *options, *folders], decode)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
