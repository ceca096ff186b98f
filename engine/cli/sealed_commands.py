"""Commands on sealed stores: seal, unseal, and the slots for `engine key`."""

from __future__ import annotations

import click

from backends.base import Backend
from backends.sealed import COMMAND, FILE
from backends.sealed.key_sources import can_ask, given_secret
from backends.sealed.seal import PASSPHRASE, RECOVERY, Seal, new_phrase
from backends.sealed.sealed_backend import SealedBackend, reseal
from engine.base.errors import InvalidInputError, LockedError, RefusedError, translated
from engine.cli.cli_session import Session
from engine.cli.command_declaration import command
from engine.cli.shown_parts import line

NEW_FILE, NEW_COMMAND = "ENGINE_NEW_KEY_FILE", "ENGINE_NEW_KEY_COMMAND"
"""As ENGINE_KEY_FILE and ENGINE_KEY_COMMAND, for the new secret where a command needs both."""

_SEALED = "the store is already sealed; `engine key change recovery` makes a new recovery phrase"


def new_secret(file: str, command: str) -> str:
    """Return a new secret, from the environment or from a person, who types it twice.

    Raises:
        LockedError: There is neither.
    """
    with translated():
        given = given_secret(file, command)
    if given is not None:
        return given[0]
    if not can_ask():
        raise LockedError("no new passphrase was given", hint=f"set {file} or {command}, or use a terminal")
    return str(
        click.prompt("new passphrase", hide_input=True, confirmation_prompt="again", err=True, type=str)
    )


def _fresh(session: Session, secret: str) -> tuple[Seal, str]:
    """Return a new seal and its recovery phrase, which is printed before the seal is written."""
    phrase = new_phrase()
    with translated():
        seal = Seal.new({PASSPHRASE: secret, RECOVERY: phrase})
    session.out.note(
        "keep the passphrase and the recovery phrase: if both are lost, the store cannot be read any more"
    )
    _show_phrase(session, phrase)
    return seal, phrase


def _show_phrase(session: Session, phrase: str) -> None:
    """Print a recovery phrase before the store has it: a command that is killed later must not lose it."""
    session.out.note("the recovery phrase is valid once this command has ended")
    session.out.show(line("recovery phrase", phrase))


def init_sealed(session: Session) -> int:
    """Create an empty sealed store, or tell that the store is there and sealed; return the exit code."""
    url = session.setting.url
    with session.backend(url, create=True) as backend:
        if isinstance(backend, SealedBackend):
            session.out.note(_SEALED)
            return session.out.answer({"store": url, "created": False}, [url])
        if next(backend.scan(), None) is not None:
            raise RefusedError("the store already exists, and is not sealed", hint="`engine seal` seals it")
    seal, phrase = _fresh(session, new_secret(FILE, COMMAND))
    with session.backend(url, key=seal) as backend:
        from engine.engine import Engine  # slow to import; nobody should wait for the question

        store_id = Engine(backend, actor=session.actor).status().store_id
    data = {"store": url, "created": True, "store_id": store_id, "recovery_phrase": phrase}
    return session.out.answer(data, [url])


def _named(session: Session, place: str | None) -> str:
    if place is not None:
        session.store = place
    return session.setting.url


def _converted(session: Session, backend: Backend, seal: Seal | None) -> None:
    if not reseal(backend, seal):
        session.out.note("the database keeps the earlier bytes until its operator runs VACUUM FULL")


@command("engine seal", "engine seal notes")
def seal(session: Session, place: str | None = None) -> int:
    """Encrypt a store under a passphrase.

    Asks for the passphrase twice, and prints a recovery phrase once. The root stays the same. If the command
    is killed, the store is as before or sealed. Exports, backups, copies and mirrors that exist stay
    readable.

    Args:
        place: `STORE` The path or URL of the store. [default: --store]
    """
    url = _named(session, place)
    with session.backend(url) as backend:
        if backend.seal is not None:
            session.out.note(_SEALED)
            return session.out.answer({"store": url, "sealed": True, "changed": False}, [url])
        made, phrase = _fresh(session, new_secret(FILE, COMMAND))
        _converted(session, backend, made)
    data = {"store": url, "sealed": True, "changed": True, "recovery_phrase": phrase}
    return session.out.answer(data, [url])


@command("engine unseal", "engine unseal notes")
def unseal(session: Session, place: str | None = None) -> int:
    """Decrypt a sealed store.

    The root stays the same. If the command is killed, the store is sealed or decrypted as a whole.

    Args:
        place: `STORE` The path or URL of the store. [default: --store]
    """
    url = _named(session, place)
    with session.backend(url) as backend:
        sealed = backend.seal is not None
        if sealed:
            _converted(session, backend, None)
    session.out.note("the store is not sealed any more" if sealed else "the store is not sealed")
    return session.out.answer({"store": url, "sealed": False, "changed": sealed}, [url])


def change_slots(session: Session, action: str, slot: str | None) -> int:
    """Carry out `engine key list|add|change|remove|rotate` on the sealed store; return the exit code.

    Raises:
        InvalidInputError: The store is not sealed, or the slot is missing, exists already, or is the last.
    """
    url, phrase = session.setting.url, None
    with session.backend(url) as backend:
        if not isinstance(backend, SealedBackend):
            raise InvalidInputError("the store is not sealed", hint="`engine seal` seals it")
        made: Seal = backend.seal
        if action == "rotate":
            made, phrase = _fresh(session, new_secret(NEW_FILE, NEW_COMMAND))
            _converted(session, backend, made)
        elif action != "list":
            made, phrase = _with_change(made, action, slot or PASSPHRASE, added=slot is not None)
            if phrase is not None:
                _show_phrase(session, phrase)
            if not backend.set_header(made.header):
                session.out.note("the database keeps the earlier slots until its operator runs VACUUM FULL")
    header = made.header
    data = {"store": url, "key_id": header.id.hex(), "slots": [*header.slots], "recovery_phrase": phrase}
    lines = [line("key id", header.id.hex()), *(line("slot", name) for name in header.slots)]
    return session.out.answer(data, lines)


def _with_change(held: Seal, action: str, slot: str, *, added: bool) -> tuple[Seal, str | None]:
    """Return the seal with one slot changed, and the recovery phrase if a new one was made."""
    exists = slot in held.header.slots
    if action == "remove":
        if not added:
            raise InvalidInputError("`engine key remove` needs the name of a slot")
        return held.without_slot(slot), None
    if action == "add" and (exists or not added):
        raise InvalidInputError(f"there is a slot {slot!r} already", hint="name a new slot")
    if action == "change" and not exists:
        raise InvalidInputError(
            f"there is no slot {slot!r}",
            hint=f"`engine key list` lists the slots, and `engine key add {slot}` adds it",
        )
    phrase = new_phrase() if slot == RECOVERY else None
    return held.with_slot(slot, phrase or new_secret(NEW_FILE, NEW_COMMAND)), phrase
