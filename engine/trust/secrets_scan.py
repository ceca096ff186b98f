"""Searching the payloads of an existing store for secrets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from cbor2 import CBORTag

from backends.base import Reader
from engine.base.errors import RefusedError
from engine.base.validation import show_id
from engine.commands.secrets.filter import ATOM_TEXTS
from engine.commands.secrets.policy import Mode, SecretsPolicy
from engine.ledger.journal import RawEntry, open_payload, read_header, read_log
from engine.ledger.layout import PAYLOAD, unpack
from engine.store.replay import Progress, no_progress
from proofs.events import AtomBody, AtomDetail, Body, EdgeBody, EdgeDetail, ReasonBody, TagsBody, TypeBody

PREVIEW_CHARS_MAX = 4
"""The maximum number of characters in a preview, not counting the ellipsis."""


@dataclass(frozen=True, slots=True)
class Leak:
    """A secret that was found in the journal."""

    seq: int
    event: str
    """The kind of the event whose payload contains the secret."""
    atoms: tuple[str, ...]
    """The id of the atom whose payload contains the secret. For a payload of an edge, the ids of the edge's
    two atoms. Erasing one of these atoms destroys the secret.
    """
    field: str
    kind: str
    preview: str
    """The beginning of the secret: at most a quarter of the secret, and at most 4 characters."""


def scan(rows: Reader, policy: SecretsPolicy, progress: Progress = no_progress) -> Iterator[Leak]:
    """Yield the secrets in all stored payloads, in the order of the journal.

    Raises:
        CorruptionError: A payload differs from the one that its header commits to.
    """
    size = read_log(rows).size
    for key, raw in rows.scan_prefix(PAYLOAD):
        seq = int.from_bytes(key.removeprefix(PAYLOAD), "big")
        header = read_header(rows, seq)[0]
        body = open_payload(header, raw)
        atoms = _atoms(header.detail)
        for field, text in (("actor", header.actor), ("actor", header.actor.upper()), *_texts(body)):
            for secret in policy.find(text):
                shown = masked(text[secret.start : secret.end])
                yield Leak(seq, header.kind.name.lower(), atoms, field, secret.kind, shown)
        progress(seq + 1, size)


def journal_check(policy: SecretsPolicy, counts: Counter[str]) -> Callable[[RawEntry], None]:
    """Return a function that checks one event for secrets; the import of a journal calls it for each event.

    Imported events cannot be changed, so they cannot be redacted. In the mode `warn`, the function adds the
    number of secrets to `counts`. In the modes `redact` and `refuse`, it raises RefusedError when it finds
    a secret.
    """

    def check(event: RawEntry) -> None:
        if policy.mode is Mode.OFF or event.entry.body is None:
            return
        for field, text in _texts(event.entry.body):
            kinds = [secret.kind for secret in policy.find(text)]
            if kinds and policy.mode is not Mode.WARN:
                seq = event.entry.header.seq
                raise RefusedError(
                    f"the {field} of event {seq} contains what looks like a secret: {', '.join(kinds)}",
                    hint="a journal cannot be redacted; to import it unchanged, set ENGINE_SECRETS=warn",
                )
            counts.update(kinds)

    return check


def masked(secret: str) -> str:
    """Return the beginning of a secret, as shown in reports."""
    return secret[: min(PREVIEW_CHARS_MAX, len(secret) // 4)] + "…"


def _atoms(detail: object) -> tuple[str, ...]:
    if isinstance(detail, AtomDetail):
        return (show_id(detail.id),)
    if isinstance(detail, EdgeDetail):
        return show_id(detail.src), show_id(detail.dst)
    return ()


def _texts(body: Body) -> Iterator[tuple[str, str]]:
    for name in ("request", "pipeline"):
        yield from ((name, text) for text in strings(getattr(body, name)))
    match body:
        case AtomBody():
            for name in ATOM_TEXTS:
                yield from ((name, text) for text in strings(getattr(body, name)))
            for label in (body.kind, *body.buckets):
                yield from (("label", form) for form in (label, label.upper()))
        case TagsBody():
            yield from (("tags", tag) for tag in body.tags)
        case ReasonBody():
            yield "reason", body.reason
        case TypeBody():
            yield from (("predicate", form) for form in (body.name, body.name.upper()))
        case EdgeBody() if body.data:
            yield from (("edge data", text) for text in strings(unpack(body.data, "edge data")))


def strings(value: Any) -> Iterator[str]:
    """Yield all texts in a decoded CBOR value; byte strings are decoded as Latin-1."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, bytes):
        yield value.decode("latin-1")
    elif isinstance(value, CBORTag):
        yield from strings(value.value)
    elif isinstance(value, dict):
        for pair in value.items():
            yield from strings(pair)
    elif isinstance(value, (tuple, list, set, frozenset)):
        for one in value:
            yield from strings(one)
