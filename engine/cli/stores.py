"""Commands on a store as a whole: init, status."""

from __future__ import annotations

from collections.abc import Iterator

import typer

from engine.cli.output import Line
from engine.cli.pages import command, new_app, running
from engine.cli.session import Session
from engine.cli.settings import find_secrets
from engine.cli.values import plain, shown_time

app = new_app()


@command(app, "engine init", "engine --store sqlite:shared.db init")
def init(ctx: typer.Context) -> int:
    """Make an empty store, unless one is there.

    Not needed before `add` and `ingest`, which make the store themselves.
    """
    from backends import store_exists
    from engine.base.error_translation import translated

    session = running(ctx)
    url, origin = session.setting
    with translated():
        there = store_exists(url)
    with session.engine(create=True) as engine:
        status = engine.status()
    session.out.note("a store is there already" if there else "made an empty store")
    data = {
        "store": url,
        "origin": origin,
        "memory": _name(session),
        "store_id": status.store_id,
        "created": not there,
    }
    return session.out.answer(data, [((url, ""),)])


@command(app, "engine status", "engine status --json")
def status(ctx: typer.Context) -> int:
    """Show what is in the store.

    Reads only: followers that are behind are shown as they are, and the live atoms as of the
    follower `tags`.
    """
    session = running(ctx)
    url, origin = session.setting
    with session.engine() as engine:
        found = engine.status()
    named = session.named
    policy, said_by = find_secrets()
    data = {"store": url, "origin": origin, "memory": _name(session), **plain(found)}
    mode = "off" if policy is None else str(policy.mode)
    data["secrets"] = {"mode": mode, "origin": said_by}

    def lines() -> Iterator[Line]:
        yield line("store", f"{url} (from {origin})")
        if named is not None:
            yield line("memory", f"{named.name} (from {named.origin})")
        yield line("store id", found.store_id)
        yield line("kind", found.backend)
        yield line("live atoms", f"{found.live_atoms:,}")
        yield line("contents", f"{found.contents:,}, with those that were revised")
        yield line("events", f"{found.events:,}")
        for name, size in found.followers.items():
            behind = found.events - size
            yield line(f"  {name}", f"{behind:,} events behind" if behind else "up to date")
        yield line("last event", shown_time(found.last_event))
        yield line("analyzer", found.analyzer)
        if mode != "off":
            yield line("secrets", f"{mode} (from {said_by})")
        yield line("version", found.version)

    return session.out.answer(data, lines())


def _name(session: Session) -> str | None:
    named = session.named
    return None if named is None else named.name


def line(name: str, value: str) -> Line:
    """A named value, for lists of them."""
    return ((f"{name:<12} ", "bold"), (value, ""))
