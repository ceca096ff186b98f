"""The commands serve, ui and token: memories for other programs, for a browser, and who may use them."""

from __future__ import annotations

import threading
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final
from urllib.parse import urlencode, urlsplit

import click

from backends.files import scratch_folder
from backends.sealed import ask
from engine.base.errors import BusyError, InvalidInputError, NotFoundError, RefusedError
from engine.base.scopes import Scope
from engine.base.times import shown_time
from engine.cli.cli_session import Session
from engine.cli.command_declaration import Number, Port, command
from engine.cli.shared_options import Time, one_of
from engine.cli.shown_parts import Table
from engine.clients.service_address import is_loopback
from engine.memory.lease import DEFAULT_WAIT
from engine.memory.memory_settings import find_memory, find_secrets, find_secrets_for_agents, find_served
from engine.service.access import ALL, KEPT_SECONDS
from engine.service.tokens import Token, Tokens, log, problem_of

if TYPE_CHECKING:
    from engine.service.served_memories import Memories

DEFAULT_PORT = 8377


@command(
    "engine serve",
    "engine serve --write --store postgresql://app@db.example/memories",
    "engine serve --host 0.0.0.0 --certificate server.pem",
    "engine serve --host 10.0.0.5 --behind-proxy 10.0.0.1",
)
def serve(
    session: Session,
    *,
    write: bool = False,
    host: str = "127.0.0.1",
    port: Port = DEFAULT_PORT,
    certificate: str | None = None,
    key: str | None = None,
    proxies: tuple[str, ...] = (),
    insecure: bool = False,
    hosts: tuple[str, ...] = (),
    origins: tuple[str, ...] = (),
    mode: str | None = None,
    rate: Annotated[float, Number(float, 0.01, 1_000_000)] = 50.0,
    connections: Annotated[int, Number(int, 4, 100_000)] = 1000,
    quiet_requests: bool = False,
) -> int:
    """Serve memories to programs and agents over HTTP.

    The service answers JSON at /v1/ and the Model Context Protocol at /mcp. GET /v1/openapi.json describes
    the addresses. It serves all memories of a folder, a file or a database; with --memory, only one.

    Each request needs a token (`engine token new`). If no token exists and only this machine can reach the
    service, it makes a token for this run. SIGTERM ends the service.

    Args:
        write: Let tokens with the scope write or admin change memories. [default: read only]
        host: `HOST` The address to listen on.
        port: `PORT` The port; 0 chooses a free port.
        certificate: `FILE` The certificate and its chain (PEM), to serve HTTPS.
        key: `FILE` The private key (PEM). [default: in the file of the certificate]
        proxies: `--behind-proxy ADDRESS` A proxy whose X-Forwarded-For is trusted: an address or a network.
            Repeatable.
        insecure: Serve plain HTTP on an address that other machines can reach.
        hosts: `--allow-host` A name that the header Host may contain. Repeatable.
        origins: `--allow-origin ORIGIN` An origin whose pages may use the service, such as
            https://app.example.com. Repeatable.
        rate: The requests of one token in a second, on average.
        connections: The connections at the same time; a quarter of them from one address.
        quiet_requests: Do not log requests, only problems.
    """
    from engine.service.access import Access, Rates
    from engine.service.app import application
    from engine.service.guard import Metrics, log_requests
    from engine.service.listening import Limits, Settings, network_of
    from engine.service.request_logs import log_to_stderr
    from engine.service.server import serve as run

    limits = Limits(
        connections=connections,
        connections_of_peer=connections // 4,
        requests_per_second=rate,
        requests_at_once=max(1, int(rate * 2)),
    )
    settings = Settings(
        host=host,
        port=port,
        certificate=_path(certificate),
        key=_path(key),
        proxies=tuple(map(network_of, proxies)),
        insecure=insecure,
        hosts=hosts,
        origins=origins,
        limits=limits,
    )
    memories = served_memories(
        session,
        read_only=not write,
        secrets=find_secrets_for_agents(mode),
        wait=session.wait if "wait" in session.given else DEFAULT_WAIT,
    )
    tokens = Tokens(memories.url)
    try:
        listed = tokens.listed()
        first = None if listed else _token_of_this_run(tokens, host, write=write)
        access = Access(
            tokens,
            read_only=memories.read_only,
            rates=Rates(limits.requests_per_second, limits.requests_at_once, running=limits.requests_running),
        )
        metrics = Metrics()
        log_to_stderr()

        # These lines are printed even with --quiet: a new token is not shown anywhere else.
        def note(text: str) -> None:
            click.echo(text, err=True)
            if first is not None:
                click.echo(f"token (shown only once, for this run): {first}", err=True)
            for problem in filter(None, map(problem_of, listed)):
                log.warning(problem)

        observers = [] if quiet_requests else [log_requests]
        run(application(memories, access, metrics), settings, note, observers, metrics)
    finally:
        tokens.close()
    return 0


def _path(text: str | None) -> Path | None:
    return None if text is None else Path(text)


def _token_of_this_run(tokens: Tokens, host: str, *, write: bool) -> str:
    """Return a token for this run, because the table has none.

    Raises:
        RefusedError: Other machines can reach the service.
    """
    if not is_loopback(host):
        raise RefusedError(
            "there is no token, and without one the service accepts no request",
            hint="make one: engine token new NAME",
        )
    return tokens.for_this_run(Scope.WRITE if write else Scope.READ)


def served_memories(session: Session, **options: Any) -> Memories:
    """Return the memories that --store and --memory name. `options` are further arguments of `Memories`.

    Raises:
        InvalidInputError: The store cannot be served.
        NotFoundError: There is nothing to serve, and the service would make no store.
    """
    from engine.service.served_memories import Memories

    memory = find_memory(session.store, session.memory)
    only = None if memory is None else memory.name
    memories = Memories(find_served(session.store, session.memory).url, only=only, **options)
    if memories.read_only:
        memories.require_any()
    if ask:
        with suppress(BusyError, NotFoundError):
            memories.touch()  # asks for a key now, because the threads of the server cannot
    return memories


PAGE: Final = """<!doctype html>
<meta charset="utf-8">
<meta name="referrer" content="no-referrer">
<meta http-equiv="refresh" content="0; url={address}">
<title>memroot</title>
"""


@command("engine ui", "engine ui --store notes --no-browser", "engine ui --write")
def ui(session: Session, *, write: bool = False, port: Port = 0, no_browser: bool = False) -> int:
    """Look into a memory with a browser, which checks what it shows.

    Serves a page on this machine only. Prints the address, which has a token for this run at its end. Ctrl-C
    or SIGTERM ends it.

    Args:
        write: Let the page change memories, and erase contents. Events have the actor of --actor. [default:
            read only]
        port: `PORT` The port; 0 chooses a free port.
        no_browser: Print the address, and open no browser.
    """
    from engine.service.access import Access
    from engine.service.app import application
    from engine.service.listening import Settings, listening
    from engine.service.server import run
    from engine.service.service_endpoints import prepare

    wait = session.wait if "wait" in session.given else DEFAULT_WAIT
    memories = served_memories(session, read_only=not write, secrets=find_secrets()[0], wait=wait)
    tokens = Tokens(memories.url)
    with ExitStack() as closing:
        closing.callback(tokens.close)
        listener = closing.enter_context(listening(Settings(port=port)))
        token = tokens.for_this_run(Scope.ADMIN, name=session.actor) if write else tokens.for_this_run()
        store = session.store or memories.url
        # The commands that the page shows name the store, unless its address has a password.
        store = "" if urlsplit(store).password else store
        address = f"{listener.url}/#{urlencode({'token': token, 'store': store}, safe=':/~')}"

        prepare()

        def ready() -> None:
            click.echo(address)
            if not no_browser:
                _open(address, closing)

        run(application(memories, Access(tokens, read_only=not write)), listener, ready)
    return 0


def _open(address: str, closing: ExitStack) -> None:
    """Open a browser at an address.

    The browser is given a file that only this user can read, because every user of the machine can see the
    arguments of a program, and the address ends with a token.
    """
    page = closing.enter_context(scratch_folder()) / "open.html"
    page.write_text(PAGE.format(address=address), encoding="utf-8")
    # In a thread, because some browsers return only when they are closed.
    threading.Thread(target=webbrowser.open, args=(page.as_uri(),), daemon=True).start()


ACTIONS = {"new": True, "list": False, "revoke": True}
"""Action → True if it takes the name of a token."""


@command(
    "engine token new laptop --write",
    "engine token new reader --memory 'team-*' --memory '~' --expires 2027-01-31",
    "engine token list",
    "engine token revoke laptop",
)
def token(
    session: Session,
    action: str,
    name: str | None = None,
    *,
    read: bool = False,
    write: bool = False,
    admin: bool = False,
    memories: tuple[str, ...] = (),
    expires: Time | None = None,
) -> int:
    """Make, list and revoke the tokens of `engine serve`.

    A token is printed once, when it is made; only a hash of it is stored. Its name is the actor that the
    history shows.

    The tokens are stored beside the memories of --store, never in a memory. Exit code 6: there is already a
    token of this name.

    Args:
        action: The action: new, list or revoke.
        name: For new and revoke: the name of the token, the actor of its events.
        read: For new: the token may only read. This is the default.
        write: For new: the token may read and write.
        admin: For new: the token may also erase, and make, rename and delete memories.
        memories: `--memory PATTERN` For new: a memory that the token is for, or a pattern with * and ?; ~ is
            the memory without a name. Repeatable. [default: *, which means all]
        expires: For new: the time from which the token is refused. [default: never]
    """
    one_of(ACTIONS, action, "action")
    if ACTIONS[action] is (name is None):
        raise InvalidInputError(f"{action} takes {'a' if ACTIONS[action] else 'no'} name")
    if action != "new" and (read or write or admin or memories or expires):
        raise InvalidInputError("--read, --write, --admin, --memory and --expires are only for new")
    with closing(Tokens(find_served(session.store).url)) as tokens:
        if name is None:
            return _list(session, tokens)
        if action == "new":
            if read + write + admin > 1:
                raise InvalidInputError(
                    "give one of --read, --write and --admin", hint="--admin includes the others"
                )
            scope = Scope.ADMIN if admin else Scope.WRITE if write else Scope.READ
            return _new(session, tokens, name, scope, memories or (ALL,), expires)
        tokens.revoke(name)
    session.out.note(f"servers that run refuse the token within {KEPT_SECONDS:g} seconds")
    return session.out.answer({"name": name, "revoked": True}, [name])


def _new(
    session: Session,
    tokens: Tokens,
    name: str,
    scope: Scope,
    patterns: tuple[str, ...],
    expires: int | None,
) -> int:
    made = tokens.new(name, scope, patterns, expires=expires)
    session.out.note(f"token {name}: {scope.name.lower()} on {', '.join(patterns)}; it is shown only once")
    data = {"name": name, "scope": scope.name.lower(), "memories": list(patterns), "token": made}
    return session.out.answer({**data, "expires": _shown(expires)}, [made])


def _list(session: Session, tokens: Tokens) -> int:
    listed = tokens.listed()
    if not listed:
        session.out.note("there are no tokens")
    for problem in filter(None, map(problem_of, listed)):
        session.out.note(problem)
    heads = ("name", "scope", "memories", "created", "expires", "state")
    data = [
        {
            "name": one.name,
            "scope": None if one.scope is None else one.scope.name.lower(),
            "memories": list(one.memories),
            "created": _shown(one.created),
            "expires": _shown(one.expires),
            "state": one.state,
        }
        for one in listed
    ]
    return session.out.answer(data, [Table(heads, list(_rows(listed)))] if listed else [])


def _rows(found: list[Token]) -> Iterator[tuple[str, ...]]:
    for one in found:
        scope = "-" if one.scope is None else one.scope.name.lower()
        memories = " ".join(one.memories) or "-"
        expires = "-" if one.state == "damaged" else _shown(one.expires) or "never"
        yield (one.name, scope, memories, _shown(one.created) or "-", expires, one.state)


def _shown(time: int | None) -> str | None:
    return None if time is None else shown_time(time)
