"""The command memory: the named memories of a root."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from engine.base.errors import InvalidInputError
from engine.cli.output import Failure, Table
from engine.cli.pages import command, new_app, running
from engine.cli.session import Session, patiently
from engine.cli.settings import find_root
from engine.cli.stores import line
from engine.cli.values import counted, plain
from engine.named.listing import Memory

app = new_app()

ACTIONS = {"list": 0, "create": 1, "rename": 2, "delete": 1}
"""What can be done, and with how many names."""

REFUSED = 7


@command(
    app,
    "engine memory create work --store memories",
    "engine memory list --store memories",
    "engine memory rename work office --store memories",
    "engine memory delete office --yes --store memories",
)
def memory(
    ctx: typer.Context,
    action: Annotated[
        str,
        typer.Argument(metavar="ACTION", help="list, create, rename or delete.", show_default=False),
    ],
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME", help="The memory; for rename the new name, too.", show_default=False),
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", help="Delete it, not only show what would go.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what deleting or renaming would do.")
    ] = False,
) -> int:
    """List, make, rename or delete the named memories of a root.

    The root is what --store names: a folder, or sqlite:PATH, one file. Every other command works on one
    of its memories with --memory NAME. Exit code 5: the memory is in use. 7: delete without --yes.
    """
    session = running(ctx)
    given = names or []
    if action not in ACTIONS:
        raise InvalidInputError(
            f"there is no action {ascii(action)[:80]}", hint=f"one of: {', '.join(ACTIONS)}"
        )
    if len(given) != ACTIONS[action]:
        raise InvalidInputError(f"{action} takes {counted(ACTIONS[action], 'name')}, not {len(given)}")
    return {"list": _list, "create": _create, "rename": _rename, "delete": _delete}[action](
        session, given, yes, dry_run
    )


def _list(session: Session, names: list[str], yes: bool, dry_run: bool) -> int:
    from engine.named.listing import described, names_in
    from engine.store.named_places import root_of

    del names, yes, dry_run
    root = root_of(find_root(session.store).url)
    found = [described(root, name) for name in names_in(root)]
    rows = [_row(one) for one in found]
    if not found:
        session.out.note(f"no memories in {root.url}")
    heads = ("name", "state", "live atoms", "events", "bytes", "root")
    return session.out.answer([plain(one) for one in found], [Table(heads, rows)] if rows else [])


def _row(one: Memory) -> tuple[str, ...]:
    numbers = ("-" if count is None else f"{count:,}" for count in (one.live_atoms, one.events, one.bytes))
    return (one.name, one.state, *numbers, one.root or "-")


def _create(session: Session, names: list[str], yes: bool, dry_run: bool) -> int:
    from engine.named.changing import create
    from engine.named.listing import memories
    from engine.store.named_places import memory_url

    del yes
    url, (name,) = find_root(session.store).url, names
    place = memory_url(url, name)
    if dry_run:
        made = name not in memories(url)
    else:
        made = patiently(lambda: create(url, name, actor=session.actor), session.wait)
    session.out.note(
        _said("made", "would make", dry_run, name) if made else f"memory {name} is there already"
    )
    return session.out.answer({"memory": name, "store": place, "created": made}, [((place, ""),)])


def _rename(session: Session, names: list[str], yes: bool, dry_run: bool) -> int:
    from engine.named.changing import rename
    from engine.store.named_places import memory_url

    del yes
    url, (old, new) = find_root(session.store).url, names
    patiently(lambda: rename(url, old, new, dry_run=dry_run), session.wait)
    session.out.note(_said("renamed", "would rename", dry_run, old))
    place = memory_url(url, new)
    return session.out.answer({"memory": new, "was": old, "store": place}, [((place, ""),)])


def _delete(session: Session, names: list[str], yes: bool, dry_run: bool) -> int:
    from engine.named.changing import delete

    url, (name,) = find_root(session.store).url, names
    done = yes and not dry_run
    found = patiently(lambda: delete(url, name, dry_run=not done), session.wait)
    session.out.note("backups, copies and mirrors of it are elsewhere, and are not reached")
    failure = None
    if done and not found.cleared:
        session.out.note(
            "others have the file open: its write-ahead log holds some of it until they are done"
        )
    elif not (done or dry_run):
        failure = Failure(
            REFUSED, "refused", f"memory {name} was not deleted", "look at what would go, then add --yes"
        )
    data = {**plain(found), "deleted": done}

    def lines() -> Iterator[tuple[tuple[str, str], ...]]:
        yield line("deleted" if done else "would go", name)
        if found.memory.live_atoms is not None and found.memory.events is not None:
            yield line("live atoms", f"{found.memory.live_atoms:,}")
            yield line("events", f"{found.memory.events:,}")
        yield line("bytes", f"{found.memory.bytes:,}")
        for path in found.kept:
            yield line("kept", f"{path}: not a file of this memory")

    return session.out.answer(data, lines(), failure=failure)


def _said(done: str, would: str, dry_run: bool, name: str) -> str:
    return f"{would if dry_run else done} memory {name}"
