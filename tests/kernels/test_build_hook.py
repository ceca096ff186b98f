"""The hook that compiles the kernels when the distribution is built, with a stand-in for Cargo."""

from __future__ import annotations

import sys
import tomllib
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

from engine.kernels import build_hook
from engine.kernels.build_hook import COMPILING, EXTENSION, KernelsHook, NotBuiltError, build, platform_tag

ROOT = Path(__file__).resolve().parents[2]

SUCCEEDS = """
while [ "$1" != --target-dir ]; do shift; done
mkdir -p "$2/$CARGO_BUILD_TARGET/release"
printf library > "$2/$CARGO_BUILD_TARGET/release/libmemroot_kernels.so"
"""
FAILS = "echo 'error: no matching package found' >&2; exit 101"
LEAVES_NOTHING = "exit 0"


class App:
    """The part of Hatch's application that the hook uses."""

    def __init__(self) -> None:
        self.warnings: list[str] = []
        self.messages: list[str] = []

    def display_info(self, message: str) -> None:
        """Keep a message."""
        self.messages.append(message)

    def display_warning(self, message: str) -> None:
        """Keep a warning."""
        self.warnings.append(message)


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty source tree; no Cargo is on the path, and no variable decides how the kernels are built."""
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    for name in ("MEMROOT_KERNELS", "CARGO_BUILD_TARGET", "MACOSX_DEPLOYMENT_TARGET"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(build_hook, "TERMINAL", str(tmp_path / "terminal"))
    (tmp_path / "bin").mkdir()
    (tmp_path / "source" / EXTENSION).parent.mkdir(parents=True)
    return tmp_path / "source"


def cargo(source: Path, script: str) -> None:
    """Put a program `cargo` with this script on the path."""
    program = source.parent / "bin" / "cargo"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(0o755)


def run(source: Path, version: str = "standard") -> tuple[dict[str, Any], list[str]]:
    """Run the hook; return the data of the build, and the warnings."""
    app = App()
    data: dict[str, Any] = {"force_include": {}, "pure_python": True, "artifacts": []}
    folder = str(source)
    hook = KernelsHook(folder, {}, None, None, folder, "wheel", app)  # type: ignore[arg-type]
    hook.initialize(version, data)
    return data, app.warnings


def test_a_wheel_gets_the_extension_and_the_tag_of_the_platform(source: Path) -> None:
    """The library that Cargo left is put into the wheel, and the source tree stays as it is."""
    cargo(source, SUCCEEDS)
    data, warnings = run(source)
    ((library, place),) = data["force_include"].items()
    assert (Path(library).read_text(encoding="utf-8"), place) == ("library", EXTENSION)
    assert (data["pure_python"], data["tag"], warnings) == (False, f"cp311-abi3-{platform_tag()}", [])
    assert not (source / EXTENSION).exists()


def test_an_editable_installation_gets_the_extension_in_the_source_tree(source: Path) -> None:
    """Its wheel holds no file of the project, so the extension is copied to where it is imported."""
    cargo(source, SUCCEEDS)
    data, _ = run(source, "editable")
    assert (source / EXTENSION).read_text(encoding="utf-8") == "library"
    assert data["force_include"] == {}


@pytest.mark.parametrize("script", [None, FAILS, LEAVES_NOTHING], ids=["missing", "fails", "leaves nothing"])
@pytest.mark.parametrize("version", ["standard", "editable"])
def test_without_a_library_the_distribution_is_pure_python(
    source: Path, script: str | None, version: str
) -> None:
    """A warning gives the reason, the tag stays `py3-none-any`, and no older extension is left in use."""
    if script is not None:
        cargo(source, script)
    if version == "editable":
        (source / EXTENSION).write_text("old", encoding="utf-8")
    data, (warning,) = run(source, version)
    assert warning.startswith("Installing memroot without its compiled kernels: Cargo ")
    assert (data["pure_python"], data["force_include"], "tag" in data) == (True, {}, False)
    assert not (source / EXTENSION).exists()


def test_the_reason_is_what_cargo_wrote(source: Path) -> None:
    """The message of a failed build ends in Cargo's own."""
    cargo(source, FAILS)
    with pytest.raises(NotBuiltError, match=r"^Cargo failed: error: no matching package found$"):
        build(source)


@pytest.mark.parametrize("script", [None, FAILS])
def test_native_ends_the_build_if_there_is_no_library(
    source: Path, script: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With MEMROOT_KERNELS=native, a wheel without the extension is never made."""
    monkeypatch.setenv("MEMROOT_KERNELS", "native")
    if script is not None:
        cargo(source, script)
    with pytest.raises(RuntimeError, match="the kernels were not built"):
        run(source)


def test_python_never_calls_cargo(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With MEMROOT_KERNELS=python, a wheel is made without the extension."""
    monkeypatch.setenv("MEMROOT_KERNELS", "python")
    cargo(source, SUCCEEDS)
    data, (warning,) = run(source)
    assert (data["pure_python"], data["force_include"]) == (True, {})
    assert "MEMROOT_KERNELS is python" in warning


@pytest.mark.parametrize("mode", [None, "auto"])
def test_the_compilation_is_announced(
    source: Path, mode: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A terminal shows how to skip the compilation, unless MEMROOT_KERNELS shows that the user decided."""
    cargo(source, SUCCEEDS)
    if mode is not None:
        monkeypatch.setenv("MEMROOT_KERNELS", mode)
    run(source)
    terminal = source.parent / "terminal"
    assert "MEMROOT_KERNELS=python" in COMPILING
    assert (terminal.read_text(encoding="utf-8") if terminal.exists() else None) == (
        f"\n{COMPILING}\n" if mode is None else None
    )


@pytest.mark.parametrize("script", [None, SUCCEEDS])
def test_a_build_prints_the_announcement_only_if_it_compiles(source: Path, script: str | None) -> None:
    """Without Cargo, nothing takes long and nothing is announced."""
    if script is not None:
        cargo(source, script)
    said: list[str] = []
    with nullcontext() if script else pytest.raises(NotBuiltError):
        build(source, said.append)
    assert said == [COMPILING] * (script is not None)


def test_a_build_for_another_target_is_found(source: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cargo puts what it builds for CARGO_BUILD_TARGET into a folder of that name."""
    monkeypatch.setenv("CARGO_BUILD_TARGET", "aarch64-unknown-linux-gnu")
    cargo(source, SUCCEEDS)
    assert build(source).parts[-3] == "aarch64-unknown-linux-gnu"


@pytest.mark.parametrize(
    ("machine", "least", "tag"),
    [
        ("arm64", None, "macosx_11_0_arm64"),
        ("x86_64", None, "macosx_10_12_x86_64"),
        ("x86_64", "13.0", "macosx_13_0_x86_64"),
    ],
)
def test_a_wheel_for_macos_names_one_architecture(
    source: Path, machine: str, least: str | None, tag: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A universal Python gives no universal wheel, as the extension is built for one architecture."""
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr("sysconfig.get_platform", lambda: "macosx-10.9-universal2")
    if least is not None:
        monkeypatch.setenv("MACOSX_DEPLOYMENT_TARGET", least)
    assert platform_tag() == tag


def test_crates_come_from_the_public_index_only() -> None:
    """Every crate in Cargo.lock but our own is from crates.io, with a checksum."""
    lock = tomllib.loads((ROOT / "engine" / "kernels" / "Cargo.lock").read_text(encoding="utf-8"))
    crates = {one["name"]: one for one in lock["package"]}
    assert "source" not in crates.pop("memroot-kernels")
    assert {one["source"] for one in crates.values()} == {
        "registry+https://github.com/rust-lang/crates.io-index"
    }
    assert all(len(one["checksum"]) == 64 for one in crates.values())


def test_crates_are_pinned_exactly() -> None:
    """Every dependency in Cargo.toml has one version."""
    manifest = tomllib.loads((ROOT / "engine" / "kernels" / "Cargo.toml").read_text(encoding="utf-8"))
    wanted = manifest["dependencies"].values()
    assert all((one if isinstance(one, str) else one["version"]).startswith("=") for one in wanted)
