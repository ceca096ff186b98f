"""The commands init and status, which create and describe a store."""

from __future__ import annotations

from collections.abc import Iterator

from backends import store_exists
from engine.base.error_translation import translated
from engine.base.time_text import shown_time
from engine.cli.command import command
from engine.cli.output import plain
from engine.cli.session import Session
from engine.cli.shapes import Line, line
from engine.memories.settings import find_secrets


@command("engine init", "engine --store sqlite:shared.db init")
def init(session: Session) -> int:
    """Create an empty store if it does not exist.

    `add` and `ingest` create the store themselves.
    """
    url, origin = session.setting
    with translated():
        there = store_exists(url)
    with session.engine(create=True) as engine:
        status = engine.status()
    session.out.note("the store already exists" if there else "created an empty store")
    name = session.named.name if session.named else None
    data = {"store": url, "origin": origin, "memory": name, "store_id": status.store_id}
    return session.out.answer({**data, "created": not there}, [url])


@command("engine status", "engine status --json")
def status(session: Session) -> int:
    """Show what is in the store.

    Changes nothing: derived data that is out of date is not updated. The counts nevertheless include the
    last event.
    """
    url, origin = session.setting
    with session.engine() as engine:
        found = engine.status()
    named = session.named
    policy, said_by = find_secrets()
    data = {"store": url, "origin": origin, "memory": named.name if named else None, **plain(found)}
    mode = "off" if policy is None else str(policy.mode)
    data["secrets"] = {"mode": mode, "origin": said_by}

    def lines() -> Iterator[Line]:
        yield line("store", f"{url} (from {origin})")
        if named is not None:
            yield line("memory", f"{named.name} (from {named.origin})")
        yield line("store id", found.store_id)
        yield line("kind", found.backend)
        if found.read_only is not None:
            yield line("read-only", found.read_only)
        yield line("live atoms", f"{found.live_atoms:,}")
        if found.conflicts:
            yield line("conflicts", f"{found.conflicts:,} open; `engine conflicts` lists them")
        yield line("contents", f"{found.contents:,}, including revised versions")
        yield line("events", f"{found.events:,}")
        for name, size in found.followers.items():
            behind = found.events - size
            yield line(f"  {name}", f"{behind:,} events behind" if behind else "up to date")
        yield line("last event", shown_time(found.last_event))
        if found.file_bytes is not None:
            yield line("files", f"{found.file_bytes:,} bytes")
        if found.scrubbed_at is None:
            yield line("scrub", "never finished")
        else:
            yield line("scrub", f"clean at {shown_time(found.scrubbed_at)}, {found.scrubbed_events:,} events")
        yield line("analyzer", found.analyzer)
        if mode != "off":
            yield line("secrets", f"{mode} (from {said_by})")
        yield line("version", found.version)

    return session.out.answer(data, lines())
