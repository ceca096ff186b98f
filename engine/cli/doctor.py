"""The command doctor, which shows the facts that a bug report needs, even if the store cannot be opened."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from backends import locate
from engine.base.error_translation import translated
from engine.base.errors import EngineError, InvalidInputError
from engine.base.version import __version__
from engine.cli.command import command, option
from engine.cli.numbers import NUMBER, WHOLE
from engine.cli.output import plain
from engine.cli.session import Session
from engine.cli.shapes import Line, line
from engine.kernels import NATIVE
from engine.ledger.journal import read_identity, read_log
from engine.memories.settings import find_mirror, find_secrets
from engine.text.language.model import RULES

LIBRARIES = (
    *("blake3", "cbor2", "PyStemmer", "numpy", "pyroaring", "sortedcontainers", "markdown-it-py"),
    *("mdit-py-plugins", "PyYAML", "rich", "click", "plyvel", "plyvel-ci"),
)

_KERNELS = {
    "native": "compiled",
    "python": "plain Python, which is slower (not compiled during the installation, or switched off)",
}


@command("engine doctor", "engine doctor --json", "engine doctor --check")
@option("--check", help="Check a random part of the store instead, for a few seconds.")
@option(
    "--seconds",
    metavar="N",
    type=NUMBER,
    default=5.0,
    show_default=False,
    help="The time of --check. [default: 5]",
)
@option("--seed", metavar="N", type=WHOLE, help="The seed of an earlier --check, to choose the same events.")
def doctor(session: Session, check: bool, seconds: float, seed: int | None) -> int:
    """Show versions and settings, for a bug report.

    A missing, busy or damaged store is reported, and is not a failure. No content of the store is
    shown. With --check, exit code 4 means that damage was found; `engine scrub` reads the whole store.
    """
    if check:
        return _check(session, seconds, seed)
    data = {
        "version": __version__,
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": platform.platform(),
        "encoding": {"stdout": sys.stdout.encoding, "filesystem": sys.getfilesystemencoding()},
        "libraries": {name: _version(name) for name in LIBRARIES},
        "leveldb": find_spec("plyvel") is not None,
        "sqlite": _sqlite(),
        "analyzer": _analyzer(),
        "kernels": "python" if NATIVE is None else "native",
        "questions": {"pipeline": RULES},
        "store": _store(session),
        "mirror": _mirror(session),
        "secrets": _secrets(),
    }
    return session.out.answer(data, _lines(data))


def _check(session: Session, seconds: float, seed: int | None) -> int:
    from engine.trust.audit.sample import sample

    if not seconds > 0:
        raise InvalidInputError(f"--seconds must be above 0, not {seconds}")
    with session.engine() as engine, translated():
        found = sample(engine.store, seed=seed, seconds=seconds)
    text = f"no damage found in {found.chosen:,} of {found.events:,} events ({found.claims:,} proofs)"
    return session.out.answer(plain(found), [line("check", text), line("seed", str(found.seed))])


def _version(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _sqlite() -> str | None:
    try:
        import sqlite3
    except ImportError:  # some distributions omit this module
        return None
    return sqlite3.sqlite_version


def _analyzer() -> dict[str, str]:
    try:
        from engine.text.analyzer import ANALYZER_NAME, fingerprint
    except ImportError as error:  # a missing stemmer is reported, not raised
        return {"problem": str(error)}
    return {"name": ANALYZER_NAME, "fingerprint": fingerprint().hex()}


def _store(session: Session) -> dict[str, Any]:
    """Return the location and the condition of the store, and the setting that names the store."""
    found: dict[str, Any] = {"url": session.store, "origin": None, "state": "usable"}
    session.wait = 0.0  # if the store is in use, report it without waiting
    try:
        url, origin = session.setting
        named = session.named
        found |= {"url": url, "origin": origin, "free_bytes": None}
        found["memory"] = None if named is None else plain(named._asdict())
        with session.backend(url) as backend, translated():
            found |= {"kind": backend.name, "capabilities": plain(backend.capabilities)}
            read_log(backend)
            read_identity(backend)
        place = locate(url).file
        found["free_bytes"] = None if place is None else _free_bytes(str(place))
    except EngineError as error:
        found |= {"state": error.code, "problem": str(error)}
    except OSError as error:
        found |= {"state": "unreadable", "problem": str(error)}
    return found


def _mirror(session: Session) -> str | None:
    """Return the mirror folder from the settings."""
    try:
        folder = find_mirror(session.store, session.memory)
    except EngineError:  # the entry of the store reports this error
        return None
    return None if folder is None else str(folder)


def _secrets() -> dict[str, str]:
    """Return the mode of the secret filter and the setting that the mode comes from."""
    try:
        policy, origin = find_secrets()
    except EngineError as error:
        return {"problem": str(error)}
    return {"mode": "off" if policy is None else str(policy.mode), "origin": origin}


def _free_bytes(path: str) -> int:
    """Return the number of free bytes on the disk of `path`. The path need not exist yet."""
    place = Path(os.path.abspath(path))  # noqa: PTH100  disk_usage follows links
    while not place.exists() and place != place.parent:
        place = place.parent
    return shutil.disk_usage(place).free


def _lines(data: dict[str, Any]) -> Iterator[Line]:
    store = data["store"]
    yield line("engine", data["version"])
    yield line("python", data["python"])
    yield line("platform", data["platform"])
    yield line("encoding", f"stdout {data['encoding']['stdout']}, files {data['encoding']['filesystem']}")
    yield line("store", f"{store['url']} (from {store['origin']})")
    if store.get("memory"):
        yield line("  memory", f"{store['memory']['name']} (from {store['memory']['origin']})")
    yield line("  state", store["state"] + (f": {store['problem']}" if "problem" in store else ""))
    if "capabilities" in store:
        capable = [name for name, value in store["capabilities"].items() if value]
        yield line("  kind", f"{store['kind']}: {', '.join(capable) or 'in memory only'}")
    if store.get("free_bytes") is not None:
        yield line("  disk", f"{store['free_bytes'] / 1e9:,.1f} GB free")
    yield line("mirror", data["mirror"] or "none in the settings")
    yield line("secrets", " from ".join(data["secrets"].values()))
    yield line("leveldb", "available" if data["leveldb"] else "not installed: pip install memroot[leveldb]")
    yield line("sqlite", data["sqlite"] or "not in this Python")
    yield line("analyzer", " ".join(data["analyzer"].values()))
    yield line("kernels", _KERNELS[data["kernels"]])
    yield line("questions", " ".join(data["questions"].values()))
    for name, version in data["libraries"].items():
        yield line(name, version or "not installed")
