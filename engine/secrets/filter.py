"""The gate: what every write passes before it is decided.

A command hands its texts to the transaction's screen before it works out ids from them, so that what is
redacted is the same atom the next time; and whatever is appended is looked at once more, for what a
decision took out of the records. Nothing here ever tells what a secret says.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar

from cbor2 import CBORTag

from engine.base.errors import EngineError, LimitError, RefusedError
from engine.base.limits import EDGE_DATA_BYTES_MAX
from engine.ledger.codec import unpack
from engine.ledger.entities import ENTITY, KEY_PREFIX, entity_key
from engine.secrets.policy import Mode, SecretsPolicy
from proofs.codec import pack
from proofs.events import AtomBody, Body, EdgeBody, EventKind, ReasonBody, TagsBody, TypeBody

Value = TypeVar("Value")

ATOM_TEXTS = ("content", "title", "tags", "source", "key", "meta", "aliases", "folder")
"""The fields of an atom that may hold anything; the others are labels, numbers and choices."""

LOOKED_AT_CHARS_MAX = 1 << 22
"""Of the texts that a screen remembers, so that none is looked through twice."""


class SecretFilter:
    """What is done about secrets in one open store, and how many there were of each kind."""

    def __init__(self, policy: SecretsPolicy) -> None:
        self.policy = policy
        self.found: Counter[str] = Counter()
        """Kind → how many were redacted, or with `warn` written."""

    def screen(self) -> Screen | None:
        """A screen for one transaction; None where nobody is to look."""
        return None if self.policy.mode is Mode.OFF else Screen(self.policy)

    def reading(self) -> Screen | None:
        """A screen for texts that are only read as yet; None where they may be written as they are."""
        return None if self.policy.mode is Mode.WARN else self.screen()

    def passed(self, screen: Screen | None) -> None:
        """Count what a screen found, once what it let through is written."""
        if screen is not None:
            self.found += screen.found
            screen.found.clear()

    def mask(self, error: EngineError) -> EngineError:
        """An error that tells no secret, whatever it quotes."""
        if self.policy.mode is not Mode.OFF:
            error.args = tuple(self.shown(one) if isinstance(one, str) else one for one in error.args)
            error.hint = self.shown(error.hint)
        return error

    def shown(self, text: str) -> str:
        """A text as it may be shown."""
        return text if self.policy.mode is Mode.OFF else self.policy.clean(text)[0]


class Screen:
    """Looks at the texts of one transaction, each once.

    Every method raises RefusedError where the mode is `refuse` and there is a secret.
    """

    def __init__(self, policy: SecretsPolicy) -> None:
        self._policy = policy
        self._seen: dict[str, str] = {}
        self._chars = 0
        self.found: Counter[str] = Counter()

    def text(self, text: str, place: str) -> str:
        """The text as it may be written; `place` says in errors where it stands."""
        if text in self._seen:
            return self._seen[text]
        kept, secrets = self._policy.clean(text)
        if secrets:
            if self._policy.mode is Mode.REFUSE:
                raise refused(place, [secret.kind for secret in secrets])
            self.found.update(secret.kind for secret in secrets)
            if self._policy.mode is Mode.WARN:
                kept = text
        self._chars += len(text) + len(kept)
        if self._chars > LOOKED_AT_CHARS_MAX:
            self._seen.clear()
            self._chars = 0
        self._seen[text] = self._seen[kept] = kept
        return kept

    def line_of(self, text: str) -> int | None:
        """The line on which the first secret in a text begins, from 1."""
        secrets = self._policy.find(text)
        return text.count("\n", 0, secrets[0].start) + 1 if secrets else None

    def shown(self, text: str) -> str:
        """A text as it may be shown, whatever the mode."""
        return self._policy.clean(text)[0]

    def atom(self, body: AtomBody) -> AtomBody:
        """An atom's body; the same object where nothing had to be done."""
        given = {name: getattr(body, name) for name in ATOM_TEXTS}
        kept = {name: self.value(value, name) for name, value in given.items()}
        if (
            body.kind == ENTITY
            and kept["content"] != body.content
            and (body.key or "").startswith(KEY_PREFIX)
        ):
            # The key of an entity is its name without regard to case, in which no secret is known again.
            kept["key"] = entity_key(kept["content"])
        return body if kept == given else body._replace(**kept)

    def value(self, value: Value, place: str) -> Value:
        """A value with all texts in it looked at: in tuples, lists, dicts and plain dataclasses.

        Bytes are let through: they are ids, or CBOR that is looked at as what it says.
        """
        looked_at: Any = value
        if isinstance(value, str) and not isinstance(value, Enum):
            looked_at = self.text(value, place)
        elif type(value) in (tuple, list):
            looked_at = type(looked_at)(self.value(one, place) for one in looked_at)
        elif type(value) is dict:
            pairs = looked_at.items()
            looked_at = {self.value(key, place): self.value(one, place) for key, one in pairs}
        elif is_dataclass(value) and not isinstance(value, type):
            given = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
            kept = {name: self.value(one, f"{place} {name}".strip()) for name, one in given.items()}
            looked_at = value if kept == given else replace(looked_at, **kept)
        return looked_at  # type: ignore[no-any-return]

    def _cbor(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value, "edge data")
        if isinstance(value, bytes):
            # As Latin-1 every byte is a character, so that nothing is lost.
            return self.text(value.decode("latin-1"), "edge data").encode("latin-1")
        if isinstance(value, dict):
            return {self._cbor(key): self._cbor(one) for key, one in value.items()}
        if isinstance(value, CBORTag):
            return CBORTag(value.tag, self._cbor(value.value))
        if isinstance(value, (tuple, list, set, frozenset)):
            return type(value)(map(self._cbor, value))
        return value

    def body(self, kind: EventKind, body: Body) -> Body:
        """What an event is about to say.

        Tags that are taken off are let through: they are there, and could not be taken off otherwise.
        """
        if isinstance(body, AtomBody):
            return self.atom(body)
        if isinstance(body, TagsBody) and kind is not EventKind.TAGS_REMOVED:
            return body._replace(tags=self.value(body.tags, "tags"))
        if isinstance(body, ReasonBody):
            return body._replace(reason=self.text(body.reason, "reason"))
        if isinstance(body, EdgeBody) and body.data:
            return body._replace(data=self._edge_data(body.data))
        if isinstance(body, TypeBody) and self.text(body.name, "predicate") != body.name:
            raise refused("predicate", [secret.kind for secret in self._policy.find(body.name)])
        return body

    def _edge_data(self, data: bytes) -> bytes:
        given = unpack(data, "edge data")
        kept = self._cbor(given)
        if kept == given:
            return data
        made = pack(kept)
        if len(made) > EDGE_DATA_BYTES_MAX:
            raise LimitError(f"edge data would have over {EDGE_DATA_BYTES_MAX} bytes once redacted")
        return made


def refused(place: str, kinds: list[str]) -> RefusedError:
    """The error that says which kinds of secrets are where, and nothing of what they are."""
    return RefusedError(
        f"{place} holds what looks like a secret: {', '.join(dict.fromkeys(kinds))}",
        hint="leave it out; if it is none, allow it in the settings (secrets.allow)",
    )


def summary(found: Counter[str]) -> str:
    """Kinds and counts in words: `aws-key 2, jwt 1`."""
    return ", ".join(f"{kind} {count}" for kind, count in sorted(found.items()))
