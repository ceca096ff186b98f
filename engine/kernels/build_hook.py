"""Builds the extension module with Cargo when the distribution is built, or leaves it out.

Without Cargo, or if the build fails, the result is the pure Python distribution: its wheel has the tag
`py3-none-any`, so it can never be mistaken for a wheel with the extension. With MEMROOT_KERNELS=native a
failure ends the build, and with MEMROOT_KERNELS=python no extension is built.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

EXTENSION = "engine/kernels/_native.abi3.so"
SECONDS = 900


class KernelsHook(BuildHookInterface[Any]):
    """The build hook of wheels and of editable installations."""

    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Build the extension into the source tree, and add it to a wheel together with the wheel's tag."""
        mode = os.environ.get("MEMROOT_KERNELS") or "auto"
        target = Path(self.root) / EXTENSION
        target.unlink(missing_ok=True)
        problem = "MEMROOT_KERNELS is python" if mode == "python" else self._build(target)
        if problem:
            if mode == "native":
                raise RuntimeError(f"the kernels were not built: {problem}")
            self.app.display_warning(f"Installing memroot without its compiled kernels: {problem}.")
            return
        build_data["artifacts"].append(EXTENSION)
        build_data["pure_python"] = False
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"cp311-abi3-{platform}"

    def _build(self, target: Path) -> str:
        """Compile the crate and copy the library to `target`; return the reason if this is impossible."""
        crate = target.parent
        cargo = shutil.which("cargo")
        if cargo is None:
            return "Cargo is not installed"
        output = Path(self.root) / "build" / "kernels"
        command = [cargo, "build", "--release", "--locked", "--quiet", "--lib", "--target-dir", str(output)]
        try:
            ended = subprocess.run(  # noqa: S603  Cargo, with arguments from this file
                command, cwd=crate, capture_output=True, text=True, timeout=SECONDS, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            return f"Cargo failed: {error}"
        if ended.returncode:
            return f"Cargo failed: {ended.stderr.strip()[-2000:]}"
        for suffix in ("so", "dylib"):
            built = output / "release" / f"libmemroot_kernels.{suffix}"
            if built.exists():
                # Copied beside it first, because a running process may have the old library mapped.
                beside = target.with_suffix(".new")
                shutil.copyfile(built, beside)
                beside.replace(target)
                return ""
        return f"Cargo left no library in {output}"
