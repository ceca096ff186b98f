"""Commands that check and repair stores: verify-root, rebuild, copy, scrub, doctor."""

from __future__ import annotations

import math
import os
import platform
import shutil
import sys
import time
from collections.abc import Iterator
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from backends import locate
from engine.base import __version__
from engine.base.errors import (
    BusyError,
    CorruptionError,
    EngineError,
    InconsistentError,
    InvalidInputError,
    VerificationError,
    translated,
)
from engine.base.json_text import encode
from engine.base.native import NATIVE
from engine.base.outside_files import require_folder
from engine.base.times import shown_time
from engine.cli.checkpoint_commands import compared, contradicted
from engine.cli.cli_output import Failure
from engine.cli.cli_session import Session
from engine.cli.command_declaration import command
from engine.cli.shown_parts import Line, line
from engine.ledger.journal import read_identity, read_log
from engine.memory.memory_settings import find_mirror, find_secrets
from engine.store import maintenance
from engine.text.language.question_model import RULES
from engine.trust.audit.comparison import NO_CURSOR, Difference
from engine.trust.audit.scrub import Scrub, read_scrub, scrub_file, scrub_piece, store_id_of, write_scrub
from engine.trust.audit.verify import Report, verify
from engine.trust.notes.trusted_keys import read_note


@command(
    "engine verify-root",
    "engine verify-root --expect $(cat root.txt)",
    "engine verify-root --checkpoint notes.checkpoint",
    "engine verify-root --since old.checkpoint new.checkpoint",
    name="verify-root",
)
def verify_root(
    session: Session,
    *,
    expect: str | None = None,
    checkpoints: tuple[str, ...] = (),
    since: tuple[str, str] | None = None,
    evidence: str | None = None,
) -> int:
    """Check that the store matches its journal exactly.

    Replays the whole journal and compares every row, every checkpoint and every root. Changes nothing. Exit
    code 4: there is a difference. 9: the store does not continue a checkpoint; the checkpoints are checked
    first.

    Args:
        since: `OLD NEW` Check that NEW continues OLD, and that the store continues both.
    """
    if expect is not None and (len(expect) != 64 or set(expect.lower()) - set("0123456789abcdef")):
        raise InvalidInputError(f"--expect {expect!r} is not 64 hex digits")
    damage = None
    all_notes = [*(since or ()), *checkpoints]
    if all_notes:
        notes = {file: read_note(file) for file in all_notes}
        try:
            pair = None if since is None else (notes[since[0]], notes[since[1]])
            compared(session, list(notes.values()), pair, asked=True)
        except InconsistentError as error:
            return contradicted(session, error, notes, evidence)
        except CorruptionError as error:
            damage = error  # verification reports the damaged event
    with session.backend(session.setting.url) as backend, session.meter("replayed", "events") as move:
        report = verify(backend, expect=expect, progress=move)
    failure = None
    if not report.ok:
        message, hint = _verdict(report.differences[0])
        failure = Failure.of(VerificationError(message, hint=hint))
    elif damage is not None:
        raise damage
    data = {**encode(report), "continues": [] if damage else all_notes}
    lines = [] if damage else [line("continues", file) for file in all_notes]
    return session.out.answer(data, [*_report(report), *lines], failure=failure)


@command("engine rebuild")
def rebuild(session: Session) -> int:
    """Rebuild all derived data of the store from the journal.

    Derived data is everything except the journal. Prints the root, which does not change.
    """
    with session.backend(session.setting.url) as backend, session.meter("rebuilt", "events") as move:
        counts = maintenance.rebuild(backend, move)
    return session.out.answer(encode(counts), [counts.root])


@command("engine copy notes sqlite:notes.db")
def copy(session: Session, source: str, target: str) -> int:
    """Copy a store to another place or backend, with the same root.

    Opens the copy again and checks every event in it. Checks that both stores have the same root, and prints
    the root. Continues an interrupted copy. The copy of a sealed store is sealed under the same key.

    Args:
        source: `SRC` The store to copy.
        target: `DST` The path or URL of the new store.
    """
    with translated():
        places = [(os.path.realpath(place.path), place.memory) for place in map(locate, (source, target))]
        if (file := locate(target).file) is not None:
            require_folder(file)
    if places[0] == places[1]:
        raise InvalidInputError(f"{source} and {target} are the same store; copy to another place")
    with (
        session.backend(source) as original,
        session.backend(target, create=True, key=original.seal) as new,
        session.meter("copied", "events") as move,
    ):
        checkpoint, seal = maintenance.copy(original, new, move), original.seal
    with session.backend(target, key=seal) as new, session.meter("read back", "events") as move:
        maintenance.check_copy(new, checkpoint, move)
    session.out.note(
        f"{target} was opened again: all {checkpoint.size:,} events and the roots are those of {source}"
    )
    return session.out.answer({"source": source, "target": target, **encode(checkpoint)}, [checkpoint.root])


def _verdict(first: Difference) -> tuple[str, str]:
    """Return the failure for the first difference, with advice."""
    if first.family == "root":
        return (
            f"the store matches its journal, but {first.problem}",
            "HEX may be the root of a different store or an earlier state: use `engine root --as-of SEQ`",
        )
    message = f"the store does not match its journal; first difference: {_where(first)}: {first.problem}"
    if first.family in {"journal", "payload"}:
        return (
            message,
            "the journal itself is damaged: restore a copy with a known root, or use `engine rescue`",
        )
    if first.problem == NO_CURSOR:
        return (
            message,
            "an interrupted rebuild leaves such rows: read the store or run `engine rebuild`, then verify",
        )
    return (
        message,
        "keep a copy of the store as evidence; then run `engine rebuild` to rebuild it from the journal",
    )


def _report(report: Report) -> Iterator[Line]:
    yield line("verified", "yes" if report.ok else "NO")
    yield line("events", f"{report.size:,}")
    yield line("checkpoints", f"{report.checkpoints:,} correct" if report.checkpoints else "none recorded")
    for one in report.unchecked:
        problem = f"tags and index cannot be checked (erasure at event {one.erased}); the rest is correct"
        yield line("checkpoint", f"event {one.seq}: {problem}")
    yield line("rows", f"{report.rows:,} compared")
    if report.root:
        yield line("root", report.root)
    for difference in report.differences:
        yield line("difference", f"{_where(difference)}: {difference.problem}")


def _where(difference: Difference) -> str:
    event = "" if difference.seq is None else f" event {difference.seq}"
    return difference.family + event + (f" key {difference.key}" if difference.key else "")


@command("engine scrub", "engine scrub --share 10 --minutes 30")
def scrub(session: Session, *, share: float = 25.0, minutes: float | None = None) -> int:
    """Read the whole store slowly, and check it for damage.

    Pauses after each small piece, so that other commands can use the store. The next run continues an
    interrupted one. Exit code 4: damage was found. `engine status` shows when a scrub last found the store
    without damage.

    Args:
        share: `P` The percentage of the time that is spent reading. [default: 25]
        minutes: Stop after this time; the next scrub continues.
    """
    if not 0 < share <= 100 or (minutes is not None and not minutes > 0):
        raise InvalidInputError("--share must be above 0 and at most 100, and --minutes above 0")
    url = session.setting.url
    file = scrub_file(locate(url))
    until = math.inf if minutes is None else time.monotonic() + 60 * minutes
    done = False
    with session.meter("read", "rows") as move:
        while not done:
            started = time.monotonic()
            progress, done = _piece(session, url)
            move(progress.rows or progress.events, 0)
            if time.monotonic() > until:
                break
            if not done:
                time.sleep((time.monotonic() - started) * (100 / share - 1))
    text = f"clean at {shown_time(progress.clean_at)}" if done and progress.clean_at else "not finished"
    data = {**encode(progress), "finished": done, "file": None if file is None else str(file)}
    if progress.clean_at is not None:
        data["clean_at"] = shown_time(progress.clean_at)
    return session.out.answer(data, [line("scrub", text), line("events", f"{progress.clean_events:,}")])


def _piece(session: Session, url: str) -> tuple[Scrub, bool]:
    """Check the next piece and save the progress; wait while another process has the store open."""
    file = scrub_file(locate(url))
    while True:
        try:
            with session.backend(url) as backend:
                progress, done = scrub_piece(backend, read_scrub(file, store_id_of(backend)))
                write_scrub(file, progress)
                return progress, done
        except BusyError:
            time.sleep(BUSY_SECONDS)


BUSY_SECONDS = 1.0
"""The pause, in seconds, before the next attempt to open a store that is in use."""


LIBRARIES = (
    *("blake3", "cbor2", "PyStemmer", "numpy", "pyroaring", "sortedcontainers", "markdown-it-py"),
    *("PyYAML", "click", "plyvel", "plyvel-ci"),
)


@command("engine doctor", "engine doctor --json", "engine doctor --check")
def doctor(session: Session, *, check: bool = False, seconds: float = 5.0, seed: int | None = None) -> int:
    """Show versions and settings, for a bug report.

    A missing, busy or damaged store is reported, and is not a failure. No content of the store is
    shown. With --check, exit code 4 means that damage was found; `engine scrub` reads the whole store.

    Args:
        check: Check a random part of the store instead, for a few seconds.
        seconds: The seconds that --check may take. [default: 5]
        seed: The seed of an earlier --check, to choose the same events.
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
        report = sample(engine.store, seed=seed, seconds=seconds)
    text = f"no damage found in {report.chosen:,} of {report.events:,} events ({report.claims:,} proofs)"
    return session.out.answer(encode(report), [line("check", text), line("seed", str(report.seed))])


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
        from engine.text.analyzer import ANALYZER_NAME
        from engine.text.analyzer_fingerprint import fingerprint
    except ImportError as error:  # a missing stemmer is reported, not raised
        return {"problem": str(error)}
    return {"name": ANALYZER_NAME, "fingerprint": fingerprint().hex()}


def _store(session: Session) -> dict[str, Any]:
    """Return the location and the condition of the store, and the setting that names the store."""
    answer: dict[str, Any] = {"url": session.store, "origin": None, "state": "usable"}
    session.wait = 0.0  # if the store is in use, report it without waiting
    try:
        url, origin = session.setting
        named = session.named
        answer |= {"url": url, "origin": origin, "free_bytes": None}
        answer["memory"] = None if named is None else encode(named._asdict())
        with session.backend(url) as backend, translated():
            answer |= {"kind": backend.name, "capabilities": encode(backend.capabilities)}
            read_log(backend)
            read_identity(backend)
        place = locate(url).file
        answer["free_bytes"] = None if place is None else _free_bytes(str(place))
    except EngineError as error:
        answer |= {"state": error.code, "problem": str(error)}
    except OSError as error:
        answer |= {"state": "unreadable", "problem": str(error)}
    return answer


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


def _lines(data: dict[str, Any], above: str = "") -> Iterator[Line]:
    for name, value in data.items():
        if isinstance(value, dict):
            yield from _lines(value, f"{above}{name} ")
        else:
            yield line(f"{above}{name}", "none" if value is None else str(value))
