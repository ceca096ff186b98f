"""The command sync."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

from engine.base.errors import BusyError, EngineError, InvalidInputError, translated
from engine.base.json_text import encode
from engine.cli.cli_output import Failure, counted
from engine.cli.cli_session import Session
from engine.cli.command_declaration import command
from engine.cli.shown_parts import Line, line
from engine.knowledge.dreaming.cycle import until_signalled
from engine.sync.devices import REFUSED, DeviceReport, SyncReport
from engine.sync.family import SyncStatus

WATCH_SECONDS = 5.0
PARTIAL_SYNC = 8
_ACTIONS = ("init", "join", "devices", "status", "remove")


@command(
    "engine sync init ~/Sync/memory",
    "engine sync join ~/Sync/memory",
    "engine sync",
    "engine sync --watch",
    "engine sync remove laptop",
)
def sync(
    session: Session,
    action: str | None = None,
    what: str | None = None,
    *,
    take: bool = False,
    name: str | None = None,
    watch: bool = False,
) -> int:
    """Keep the same memory on several devices, which meet in a folder.

    Reads what other devices put into the folder, and writes what is new here. The folder is carried by any
    program that synchronises folders, or by a stick. `init` and `join` ask for it once. Exit code 8:
    something in the folder was refused; everything else was done.

    Args:
        action: `init|join|devices|status|remove` init: begin in DIR, and print the phrase for the others.
            join: join the devices in DIR; asks for the phrase. devices: list the devices. status: show what
            is not synchronised yet. remove: remove DEVICE, and change the phrase. Or a folder to use once.
        what: `DIR|DEVICE` The folder of `init` and `join`, or the name or id of the device to remove.
        take: With join: if the store is not empty, keep it under another name and add its texts.
        name: The name of this device. [default: the name of the machine]
        watch: Do it again every few seconds, until Ctrl-C.
    """
    needs = action in ("init", "join", "remove")
    if needs == (what is None):
        wrong = (
            f"{action} needs {'a device' if action == 'remove' else 'a folder'}"
            if needs
            else f"{what!r} is one too many"
        )
        raise InvalidInputError(wrong, hint="`engine sync --help` shows the forms")
    if action in ("devices", "status"):
        return _status(session, only_devices=action == "devices")
    if action == "remove":
        return _remove(session, str(what))
    if action == "init":
        from engine.sync.setup import begin

        with session.engine(create=True, synced=False) as engine:
            with translated():
                phrase = begin(engine.store, str(what), name)
            report = _synced(session, engine)
        next_one = f"engine sync join {what}"
        session.out.note(f"on the next device: `{next_one}`, with the phrase below; keep it like a password")
        return session.out.answer(
            {**_data(report), "phrase": phrase}, [line("phrase", phrase), *_lines(report)]
        )
    if action == "join":
        return _join(session, str(what), name, take=take)
    if watch:
        return _watch(session, action)
    with session.engine(synced=False) as engine:
        report = _synced(session, engine, action)
    return _answer(session, report)


def _synced(session: Session, engine: Any, folder: str | None = None) -> SyncReport:
    with session.meter("read", "events") as move:
        return engine.sync(folder, progress=move)  # type: ignore[no-any-return]


def _join(session: Session, folder: str, name: str | None, *, take: bool) -> int:
    from engine.engine import wall_clock
    from engine.sync.setup import join

    with translated():
        kept = join(session.setting.url, folder, _phrase, name, wall_clock, take=take)
    if kept:
        session.out.note(f"the store that was here is kept: {kept}")
    with session.engine(synced=False) as engine:
        report = _synced(session, engine)
    return _answer(session, report)


def _phrase() -> str:
    if not sys.stdin.isatty():
        return sys.stdin.readline()
    import getpass

    return getpass.getpass("phrase: ")


def _watch(session: Session, folder: str | None) -> int:
    rounds = 0
    with until_signalled() as stop:
        while not stop.is_set():
            try:
                with session.engine(synced=False) as engine:
                    report = engine.sync(folder)
                if report.read or report.written or not rounds:
                    session.out.json_line(_data(report)) if session.out.json else session.out.show(
                        _said(report)
                    )
                rounds += 1
            except BusyError:
                pass  # another command uses the store; the next round is soon
            except EngineError as error:
                session.out.note(f"{error}; trying again")
            stop.wait(WATCH_SECONDS)
    return 0


def _remove(session: Session, device: str) -> int:
    with session.engine(synced=False) as engine:
        phrase = engine.sync_remove(device)
    session.out.note(
        f"{device} is removed; the devices that stay find the new key at their next sync, "
        "and a device that joins later needs the new phrase"
    )
    return session.out.answer({"removed": device, "phrase": phrase}, [line("phrase", phrase)])


def _status(session: Session, *, only_devices: bool) -> int:
    with session.engine(synced=False) as engine:
        status = engine.sync_status()
    failure = _failure(sum(one.state == REFUSED for one in status.devices))
    if only_devices:
        return session.out.answer(encode(status)["devices"], map(_device, status.devices), failure=failure)
    return session.out.answer(encode(status), _status_lines(status), failure=failure)


def _status_lines(status: SyncStatus) -> Iterator[Line]:
    yield line("folder", status.folder)
    yield line("not written", counted(status.unwritten, "event"))
    yield from map(_device, status.devices)
    for one in status.erasures:
        yield line("erased", f"{one.id}: destroyed on {one.done} of {one.devices} devices")
        yield from (line("  still in", pack) for pack in one.packs)


def _answer(session: Session, report: SyncReport) -> int:
    return session.out.answer(_data(report), _lines(report), failure=_failure(len(report.problems)))


def _failure(refused: int) -> Failure | None:
    message = f"{counted(refused, 'device')} refused, or not read completely"
    shown = "the lines above say what was refused"
    return Failure(PARTIAL_SYNC, "partial_sync", message, shown) if refused else None


def _data(report: SyncReport) -> dict[str, Any]:
    return {**encode(report), "problems": list(report.problems)}


def _lines(report: SyncReport) -> Iterator[Line]:
    yield line("folder", report.folder)
    yield _said(report)
    yield from map(_device, report.devices)


def _said(report: SyncReport) -> Line:
    return line("synced", f"{counted(report.read, 'event')} added here, {report.written:,} written")


def _device(one: DeviceReport) -> Line:
    problem = f": {one.problem}" if one.problem else ""
    return line(one.name or "unknown", f"{one.id[:8]} {counted(one.size, 'event')}, {one.state}{problem}")
