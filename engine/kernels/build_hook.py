"""Builds the extension module with Cargo when the distribution is built, or leaves it out.

Without Cargo, or if the build fails, the result is the pure Python distribution: its wheel has the tag
`py3-none-any`, so it can never be mistaken for a wheel with the extension. With MEMROOT_KERNELS=native a
failure ends the build, and with MEMROOT_KERNELS=python no extension is built.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

COMPILING = "memroot compiles its kernels with Cargo, half a minute or more; MEMROOT_KERNELS=python skips it."
CRATE = "engine/kernels"
EXTENSION = f"{CRATE}/_native.abi3.so"
TERMINAL = "/dev/tty"
SECONDS = 900
"""The time limit of a build in seconds. Without a limit, a build could wait forever for the network."""

_MAC = {"arm64": "11.0", "x86_64": "10.12"}
"""The oldest versions of macOS on which Rust's libraries run, unless MACOSX_DEPLOYMENT_TARGET is newer."""


class NotBuiltError(Exception):
    """The extension was not built. The message is the reason."""


class KernelsHook(BuildHookInterface[Any]):
    """The build hook of wheels and of editable installations."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the extension; add it to the wheel, or to the source tree for an editable installation."""
        mode = os.environ.get("MEMROOT_KERNELS") or "auto"
        root = Path(self.root)
        if version == "editable":
            # What an earlier installation left may not fit the present code.
            (root / EXTENSION).unlink(missing_ok=True)
        try:
            if mode == "python":
                raise NotBuiltError("MEMROOT_KERNELS is python")
            library = build(root, self.announce)
        except NotBuiltError as problem:
            if mode == "native":
                raise RuntimeError(f"the kernels were not built: {problem}") from problem
            self.app.display_warning(f"Installing memroot without its compiled kernels: {problem}.")
            return
        if version == "editable":
            put(library, root / EXTENSION)
            return
        build_data["force_include"][str(library)] = EXTENSION
        build_data["pure_python"] = False
        build_data["tag"] = f"cp311-abi3-{platform_tag()}"

    def announce(self, message: str) -> None:
        """Show a message. pip hides what a build prints, so a person at a terminal gets it there."""
        self.app.display_info(message)
        if "MEMROOT_KERNELS" not in os.environ:
            with suppress(OSError), Path(TERMINAL).open("w", encoding="utf-8") as terminal:
                terminal.write(f"\n{message}\n")


def build(root: Path, announce: Callable[[str], object] = lambda message: None) -> Path:
    """Compile the crate of the source tree at `root`, and return the path of the library.

    `announce` is called with a message before the compilation starts.

    Raises:
        NotBuiltError: Cargo is missing, fails, takes too long, or leaves no library.
    """
    cargo = shutil.which("cargo")
    if cargo is None:
        raise NotBuiltError("Cargo is not installed")
    announce(COMPILING)
    output = root / "build" / "kernels"
    command = [cargo, "build", "--release", "--locked", "--quiet", "--lib", "--target-dir", str(output)]
    try:
        ended = subprocess.run(  # noqa: S603  Cargo, with arguments from this file
            command,
            cwd=root / CRATE,  # where .cargo/config.toml is
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NotBuiltError(f"Cargo failed: {error}") from error
    if ended.returncode:
        raise NotBuiltError(f"Cargo failed: {ended.stderr.strip()[-2000:]}")
    folder = output / os.environ.get("CARGO_BUILD_TARGET", "") / "release"
    for suffix in ("so", "dylib"):
        library = folder / f"libmemroot_kernels.{suffix}"
        if library.exists():
            return library
    raise NotBuiltError(f"Cargo left no library in {folder}")


def put(library: Path, target: Path) -> None:
    """Copy `library` to `target`, which a running process may have in use."""
    beside = target.with_suffix(".new")
    shutil.copyfile(library, beside)
    beside.replace(target)


def platform_tag() -> str:
    """Return the platform tag for a wheel that contains the extension."""
    name = sysconfig.get_platform()
    if sys.platform == "darwin":
        # Python may be a universal one, but the extension has the one architecture of this machine.
        machine = platform.machine()
        name = f"macosx-{os.environ.get('MACOSX_DEPLOYMENT_TARGET') or _MAC[machine]}-{machine}"
    return name.replace("-", "_").replace(".", "_")
