"""Commands that create and describe stores: init, status, and memory for the named memories of a store.

The code of named memories loads SQLite, so the functions that need it import it: `status` does not.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from backends import store_exists
from engine.base.errors import InvalidInputError, RefusedError, translated
from engine.base.json_text import encode
from engine.base.times import shown_time
from engine.cli.cli_output import Failure, counted
from engine.cli.cli_session import Session
from engine.cli.command_declaration import command
from engine.cli.shared_options import one_of
from engine.cli.shown_parts import Line, Table, line
from engine.memory.memory_settings import find_mirror, find_root, find_secrets
from engine.memory.open_memory import retry_while_busy

if TYPE_CHECKING:
    from pathlib import Path

    from engine.memory.named_memories import NamedMemory
    from engine.store.status import Status


@command("engine init", "engine --store sqlite:shared.db init", "engine init --sealed")
def init(session: Session, *, sealed: bool = False) -> int:
    """Create an empty store if it does not exist.

    `add` and `ingest` create it, too.

    Args:
        sealed: Encrypt the store under a passphrase, and print a recovery phrase once.
    """
    url, origin = session.setting
    if sealed:
        from engine.cli.sealed_commands import init_sealed

        return init_sealed(session)
    with translated():
        there = store_exists(url)
    with session.engine(create=True) as engine:
        status = engine.status()
    session.out.note("the store already exists" if there else "created an empty store")
    name = session.named.name if session.named else None
    data = {"store": url, "origin": origin, "memory": name, "store_id": status.store_id}
    return session.out.answer({**data, "created": not there}, [url])


def _future(state: Status) -> Iterator[Line]:
    if state.ahead is not None:
        count = counted(state.events - state.ahead, "event")
        yield line("from the future", f"{count}, from seq {state.ahead} on (docs/durability.md)")


@command("engine status", "engine status --json")
def status(session: Session) -> int:
    """Show what is in the store.

    Changes nothing: derived data that is out of date is not updated. The counts nevertheless include the
    last event.
    """
    url, origin = session.setting
    folder = find_mirror(session.store, session.memory)
    with session.engine() as engine:
        state = engine.status()
        behind = None if folder is None else mirror_lag(state, folder)
    named = session.named
    policy, said_by = find_secrets()
    data = {"store": url, "origin": origin, "memory": named.name if named else None, **encode(state)}
    mode = "off" if policy is None else str(policy.mode)
    data["secrets"] = {"mode": mode, "origin": said_by}
    data["mirror"] = None if folder is None else {"folder": str(folder), "behind": behind}

    def lines() -> Iterator[Line]:
        yield line("store", f"{url} (from {origin})")
        if named is not None:
            yield line("memory", f"{named.name} (from {named.origin})")
        yield line("store id", state.store_id)
        yield line("kind", f"{state.backend}, sealed" if state.sealed else state.backend)
        if state.read_only is not None:
            yield line("read-only", state.read_only)
        yield line("live atoms", f"{state.live_atoms:,}")
        if state.conflicts:
            yield line("conflicts", f"{state.conflicts:,} open; `engine conflicts` lists them")
        yield line("contents", f"{state.contents:,}, including revised versions")
        yield line("events", f"{state.events:,}")
        for name, size in state.followers.items():
            yield line(f"  {name}", _lag(state.events - size))
        if folder is not None:
            yield line("mirror", f"{folder}, {'not written' if behind is None else _lag(behind)}")
        yield line("last event", shown_time(state.last_event))
        yield from _future(state)
        if state.file_bytes is not None:
            yield line("files", f"{state.file_bytes:,} bytes")
        if state.scrubbed_at is None:
            yield line("scrub", "never finished")
        else:
            yield line("scrub", f"clean at {shown_time(state.scrubbed_at)}, {state.scrubbed_events:,} events")
        yield line("analyzer", state.analyzer)
        if mode != "off":
            yield line("secrets", f"{mode} (from {said_by})")
        yield line("version", state.version)

    return session.out.answer(data, lines())


def mirror_lag(state: Status, folder: Path) -> int | None:
    """Return the number of events that the mirror in `folder` does not show, or None if it is not written."""
    from engine.files.mirror.mirror_place import events_behind

    return events_behind(state.store_id, state.events, folder)


def _lag(events: int) -> str:
    return f"{counted(events, 'event')} behind" if events else "up to date"


ACTIONS = {"list": 0, "create": 1, "rename": 2, "delete": 1}
"""Action → the number of memory names that the action takes."""


@command(
    "engine memory create work --store memories",
    "engine memory list --store memories",
    "engine memory rename work office --store memories",
    "engine memory delete office --yes --store memories",
)
def memory(
    session: Session,
    action: str,
    names: tuple[str, ...] = (),
    *,
    yes: bool = False,
    names_only: bool = False,
    dry_run: bool = False,
) -> int:
    """List, create, rename or delete named memories.

    --store names the folder, the file or the database that holds the memories. Other commands select one with
    --memory NAME. Exit code 7: delete was used without --yes.

    Args:
        action: The action: list, create, rename or delete.
        names: `NAME` The name of the memory; for rename, the old and the new name.
        yes: Confirm the deletion, which is only shown otherwise.
        names_only: `--names` Let list show only the names, which is faster.
        dry_run: Let delete show what it would delete; other actions refuse this.
    """
    one_of(ACTIONS, action, "action")
    if len(names) != ACTIONS[action]:
        raise InvalidInputError(f"{action} takes {counted(ACTIONS[action], 'name')}, not {len(names)}")
    if dry_run and action != "delete":
        raise InvalidInputError("--dry-run is only for delete")
    url = find_root(session.store).url
    match action:
        case "create":
            return _create(session, url, *names)
        case "rename":
            return _rename(session, url, *names)
        case "delete":
            return _delete(session, url, *names, sure=yes and not dry_run, asked=dry_run)
        case _:
            return _names(session, url) if names_only else _list(session, url)


def _names(session: Session, url: str) -> int:
    from engine.memory.named_memories import memories

    names = memories(url)
    if not names:
        from engine.store.named_places import root_of

        session.out.note(f"no memories in {root_of(url).url}")
    return session.out.answer([{"name": name} for name in names], names)


def _list(session: Session, url: str) -> int:
    from engine.memory.named_memories import all_described
    from engine.store.named_places import root_of

    root = root_of(url)
    described = list(all_described(root))
    rows = [_row(one) for one in described]
    if not described:
        session.out.note(f"no memories in {root.url}")
    heads = ("name", "state", "live atoms", "events", "bytes", "root")
    return session.out.answer([encode(one) for one in described], [Table(heads, rows)] if rows else [])


def _row(one: NamedMemory) -> tuple[str, ...]:
    numbers = ("-" if count is None else f"{count:,}" for count in (one.live_atoms, one.events, one.bytes))
    return (one.name, one.state, *numbers, one.root or "-")


def _create(session: Session, url: str, name: str) -> int:
    from engine.memory.named_memories import create
    from engine.store.named_places import memory_url

    place = memory_url(url, name)
    made = retry_while_busy(lambda: create(url, name, actor=session.actor), session.wait)
    session.out.note(f"created memory {name}" if made else f"memory {name} already exists")
    return session.out.answer({"memory": name, "store": place, "created": made}, [place])


def _rename(session: Session, url: str, old: str, new: str) -> int:
    from engine.memory.named_memories import rename

    retry_while_busy(lambda: rename(url, old, new), session.wait)
    session.out.note(f"renamed memory {old}")
    from engine.store.named_places import memory_url

    place = memory_url(url, new)
    return session.out.answer({"memory": new, "was": old, "store": place}, [place])


def _delete(session: Session, url: str, name: str, *, sure: bool, asked: bool) -> int:
    from engine.memory.named_memories import delete

    report = retry_while_busy(lambda: delete(url, name, dry_run=not sure), session.wait)
    session.out.note("backups, copies and mirrors of the memory are not deleted")
    failure = None
    if sure and not report.cleared:
        session.out.note(
            "other processes have the file open; the write-ahead log keeps data until they close the file"
        )
    elif not (sure or asked):
        hint = "check what would be deleted, then add --yes"
        failure = Failure.of(RefusedError(f"memory {name} was not deleted", hint=hint))

    def lines() -> Iterator[Line]:
        yield line("deleted" if sure else "would go", name)
        if report.memory.live_atoms is not None and report.memory.events is not None:
            yield line("live atoms", f"{report.memory.live_atoms:,}")
            yield line("events", f"{report.memory.events:,}")
        yield line("bytes", f"{report.memory.bytes:,}")
        for path in report.kept:
            yield line("kept", f"{path}: not a file of this memory")

    return session.out.answer({**encode(report), "deleted": sure}, lines(), failure=failure)
