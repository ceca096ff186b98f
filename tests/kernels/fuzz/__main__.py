"""Guided fuzzing of the kernels: `python -m tests.kernels.fuzz [--seconds N] [--keep] [NAME...]`.

libFuzzer chooses the bytes from which a property makes its examples, and sees which code of the kernels they
reach. It needs Rust and `cargo install cargo-fuzz`, and an interpreter with a shared library.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from random import Random
from typing import Final

from tests.kernels.fuzz.properties import HOSTILE, KEPT_BYTES_MAX, keep, kept, names
from tests.support.long_runs import fuzz_in_turn, say

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[2]
TARGET: Final = ROOT / "build" / "fuzz-kernels"
FOUND: Final = ROOT / "build" / "fuzz" / "kernels"
BYTES_MAX: Final = 8192
HOSTILE_SHARE: Final = 4
"""A kernel with any values gets a fraction of the time of a property."""


def why_not() -> str:
    """Return why the kernels cannot be fuzzed here; empty if they can."""
    if shutil.which("cargo") is None:
        return "Cargo is not installed"
    if subprocess.run(["cargo", "fuzz", "--version"], capture_output=True, check=False).returncode:
        return "cargo-fuzz is not installed (`cargo install cargo-fuzz`)"
    if not sysconfig.get_config_var("Py_ENABLE_SHARED"):
        return "this Python has no shared library"
    return ""


def build() -> Path:
    """Compile the kernels so that the code that is reached can be seen; return the program."""
    command = [
        "cargo",
        "fuzz",
        "build",
        "--fuzz-dir",
        ".",
        "--sanitizer",
        "none",
        "--target-dir",
        str(TARGET),
    ]
    subprocess.run(command, cwd=HERE, env=os.environ | {"PYO3_PYTHON": sys.executable}, check=True)
    return next(TARGET.glob("*/release/property"))


def environment(name: str) -> Mapping[str, str]:
    """Return the environment in which the program finds the interpreter, the tests and the property."""
    paths = [str(ROOT), sysconfig.get_path("purelib"), sysconfig.get_path("platlib")]
    library = sysconfig.get_config_var("LIBDIR")
    return os.environ | {
        "MEMROOT_PROPERTY": name,
        "MEMROOT_KERNELS": "native",
        "PYTHONHOME": sys.base_prefix,
        "PYTHONPATH": os.pathsep.join(paths),
        "LD_LIBRARY_PATH": library,
    }


def fuzz(program: Path, name: str, seconds: int, *, keeping: bool) -> bool:
    """Fuzz one property; return False if an input was found that fails."""
    folder = FOUND / name.replace(":", "-")
    inputs, merged = folder / "inputs", folder / "merged"
    inputs.mkdir(parents=True, exist_ok=True)
    # From few bytes, some properties make no example at all.
    chosen = Random(name)
    first = [chosen.randbytes(size) for size in (64, 512, BYTES_MAX // 2, BYTES_MAX)]
    for number, raw in enumerate([*kept(name), *first]):
        (inputs / f"first-{number}").write_bytes(raw)
    usual = [f"-max_len={BYTES_MAX}", f"-artifact_prefix={folder}/", "-verbosity=0", "-print_final_stats=1"]

    def run(options: Sequence[str]) -> bool:
        return not subprocess.run([program, *usual, *options], env=environment(name), check=False).returncode

    if not run([f"-max_total_time={seconds}", str(inputs)]):
        return False
    if keeping:
        shutil.rmtree(merged, ignore_errors=True)
        merged.mkdir()
        run(["-merge=1", str(merged), str(inputs)])
        found = sorted((path.read_bytes() for path in merged.iterdir()), key=lambda raw: (len(raw), raw))
        keep(name, found)
    return True


def main() -> int:
    """Fuzz the given properties, or all, one after the other; return 1 if an input was found that fails."""
    parser = argparse.ArgumentParser(prog="python -m tests.kernels.fuzz", description=__doc__)
    parser.add_argument("--seconds", type=int, default=60, help="the time for each property; default 60")
    parser.add_argument(
        "--keep", action="store_true", help=f"keep what reaches other code, at most {KEPT_BYTES_MAX} bytes"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="default: all")
    given = parser.parse_args()
    if reason := why_not():
        say(f"NOT TESTED: {reason}")
        return 0
    usual, short = given.seconds, max(1, given.seconds // HOSTILE_SHARE)
    return fuzz_in_turn(
        given.names or names(),
        lambda name: short if name.startswith(HOSTILE) else usual,
        partial(fuzz, build(), keeping=given.keep),
        FOUND,
    )


if __name__ == "__main__":
    sys.exit(main())
