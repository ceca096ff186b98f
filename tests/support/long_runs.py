"""What the commands that run for a long time have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path


def say(line: str) -> None:
    """Print a line at once."""
    print(line, flush=True)  # noqa: T201  the progress of a long run


def fuzz_in_turn(
    names: Iterable[str], seconds: Callable[[str], int], fuzz: Callable[[str, int], bool], found: Path
) -> int:
    """Fuzz one after the other, and return 1 if an input was found that fails.

    Args:
        names: What is fuzzed.
        seconds: Returns the time for a name.
        fuzz: Fuzzes a name for some seconds, and returns False if it found an input that fails.
        found: The folder with such inputs.
    """
    failed = []
    for name in names:
        say(f"{name}: {seconds(name)} s")
        if not fuzz(name, seconds(name)):
            failed.append(name)
    say(f"failed: {', '.join(failed) or 'none'}; inputs are in {found}")
    return int(bool(failed))
