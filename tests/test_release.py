"""The check of what a release uploads."""

from __future__ import annotations

from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.support.release import EXTENSION, faults

NAMES = (
    "memroot-1.0-cp311-abi3-manylinux_2_28_x86_64.whl",
    "memroot-1.0-cp311-abi3-manylinux2014_aarch64.manylinux_2_17_aarch64.whl",
    "memroot-1.0-cp311-abi3-musllinux_1_2_x86_64.whl",
    "memroot-1.0-cp311-abi3-musllinux_1_2_aarch64.whl",
    "memroot-1.0-cp311-abi3-macosx_10_12_x86_64.whl",
    "memroot-1.0-cp311-abi3-macosx_11_0_arm64.whl",
)
PURE = "memroot-1.0-py3-none-any.whl"
LOCAL = "memroot-1.0-cp311-abi3-linux_x86_64.whl"


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """A folder with everything that a release has."""
    for name in NAMES:
        wheel(tmp_path / name, EXTENSION)
    (tmp_path / "memroot-1.0.tar.gz").touch()
    return tmp_path


def wheel(path: Path, file: str) -> None:
    """Write a wheel that holds one file."""
    with ZipFile(path, "w") as archive:
        archive.writestr(file, "")


def test_one_wheel_for_each_platform_and_the_source_are_right(dist: Path) -> None:
    """A complete release has no faults."""
    assert faults(dist) == []


def test_a_wheel_without_the_extension_is_a_fault(dist: Path) -> None:
    """A wheel that claims a platform and has no extension is named."""
    wheel(dist / NAMES[0], "engine/kernels/__init__.py")
    assert faults(dist) == [f"{NAMES[0]} has no extension"]


@pytest.mark.parametrize("name", [PURE, LOCAL])
def test_a_wheel_for_no_known_platform_is_a_fault(dist: Path, name: str) -> None:
    """A pure Python wheel, and a wheel for Linux that was not repaired, are not published."""
    wheel(dist / name, EXTENSION)
    assert faults(dist) == ["there are 7 wheels, of which some are for no known platform"]


def test_a_missing_platform_is_a_fault(dist: Path) -> None:
    """Each platform has its wheel."""
    (dist / NAMES[3]).unlink()
    assert faults(dist) == ["there are 0 wheels for musllinux on aarch64"]


def test_a_missing_source_distribution_is_a_fault(dist: Path) -> None:
    """The source distribution is what other platforms install."""
    (dist / "memroot-1.0.tar.gz").unlink()
    (fault,) = faults(dist)
    assert fault.startswith("there is not exactly one source distribution")
