"""Adding a text only if no live atom holds it, with no event between the comparison and the addition."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from engine.base.errors import ConflictError, EngineError
from engine.base.model import Held, Receipt, State
from engine.commands.atoms import Add, Tag
from engine.followers.requests import Once
from engine.ledger.journal import read_log
from engine.store.store import Store
from proofs.events import AtomBody

ATTEMPTS_MAX: Final = 4
"""The largest number of comparisons of a text with the memory. If another process appends events in the
meantime, the comparison is repeated. During the last comparison, other processes are locked out."""

HeldText = Callable[[AtomBody], tuple[Held | None, int]]
"""Returns the atom that holds a text, or None, and the number of events in the journal at the comparison."""


def add_unless_held(
    store: Store, command: Add, held_text: HeldText, actor: str, once: Once | None = None
) -> Receipt:
    """Run `command` unless `held_text` says that a live atom holds the text.

    No event is appended between the comparison and the addition. If an atom holds the text, only the tags of
    the command are added to that atom. Then the receipt has the id of that atom, and its field `held` says
    how similar the texts are. If `once` is given and its key was used already, the receipt is that of the
    first time.

    Raises:
        EngineError: as for `Store.commit`.
    """
    for attempt in range(1, ATTEMPTS_MAX + 1):
        with store.exclusive() if attempt == ATTEMPTS_MAX else store.paused():
            if once is not None and store.recorded(actor, once):
                return store.commit([command], actor, request=once)[0]
            held, size = held_text(_redacted_body(store, command))
            if held is not None and not command.tags:
                return Receipt(held.id, (), State.LIVE, held)
            try:
                if held is None:
                    return store.commit([command], actor, if_head=size, request=once)[0]
                # Repeated, this adds nothing, so it records no key.
                tagged = store.commit([Tag(held.id, command.tags)], actor, if_head=size)[0]
                return Receipt(held.id, tagged.events, tagged.state, held)
            except ConflictError:
                if attempt == ATTEMPTS_MAX or read_log(store.backend).size == size:
                    raise
    raise AssertionError("unreachable: the last attempt returns or raises")


def _redacted_body(store: Store, command: Add) -> AtomBody:
    """Return the body that the event would have after the redaction of secrets."""
    secrets = store.secret_filter
    try:
        body, screen = command.body(), None if secrets is None else secrets.screen()
        return body if screen is None else screen.atom(body)
    except EngineError as error:
        # A message may quote a secret.
        if secrets is not None:
            secrets.mask(error)
        raise
