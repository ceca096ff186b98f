"""Programs that run where they cannot write: on a read-only mount, or without permission."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

_MOUNT = 'mount --bind "$0" "$0" && mount -o remount,ro,bind "$0" && exec "$@"'

WAYS = ("read-only disk", "no permission")


def prefix_for(way: str, folder: Path) -> tuple[str, ...]:
    """Return the beginning of a command line that runs a program to which `folder` is read-only.

    The test is skipped where the system does not allow it.
    """
    if way == "no permission":
        for path in (folder, *folder.rglob("*")):
            path.chmod(path.stat().st_mode & ~0o222)
        if os.getuid():
            return ()
        prefix: tuple[str, ...] = ("setpriv", "--bounding-set", "-dac_override,-dac_read_search")
    else:
        prefix = ("unshare", "-rm", "sh", "-c", _MOUNT, str(folder))
    probe = (*prefix, "sh", "-c", '! touch "$0/probe" 2>/dev/null', str(folder))
    if shutil.which(prefix[0]) is None or subprocess.run(probe, check=False, capture_output=True).returncode:
        pytest.skip(f"NOT TESTED: this system does not let a test have a {way} ({prefix[0]})")
    return prefix
