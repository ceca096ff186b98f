"""The filter for secrets, which is applied to the texts of every command.

A command passes its texts to the `Screen` of the transaction before it derives ids from them. A text with
redacted secrets therefore results in the same atom every time. Events are filtered again when they are
appended, because a command may copy text from the records. No message or error contains the text of a secret.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any, TypeVar

from cbor2 import CBORTag

from engine.base.errors import EngineError, LimitError, RefusedError
from engine.base.limits import EDGE_DATA_BYTES_MAX
from engine.commands.secrets.policy import Mode, SecretsPolicy
from engine.ledger.entities import ENTITY, KEY_PREFIX, entity_key
from engine.ledger.layout import unpack
from proofs.codec import pack
from proofs.events import AtomBody, Body, EdgeBody, EventKind, ReasonBody, TagsBody, TypeBody

Value = TypeVar("Value")

ATOM_TEXTS = ("content", "title", "tags", "source", "key", "meta", "aliases", "folder")
"""The fields of an atom that contain free text. The other fields are labels, numbers or fixed choices."""

LABELS_MAX = 4096
"""The maximum number of searched labels that a screen remembers."""

CACHED_CHARS_MAX = 1 << 22
"""The maximum number of characters of text for which a screen caches results, to avoid repeated searches."""


class SecretFilter:
    """The secrets policy of one open store, and the number of secrets found of each kind."""

    def __init__(self, policy: SecretsPolicy) -> None:
        self.policy = policy
        self.found: Counter[str] = Counter()
        """The number of secrets of each kind that were redacted or, in the mode `warn`, written unchanged."""

    def screen(self) -> Screen | None:
        """Return a new screen for one transaction, or None in the mode `off`."""
        return None if self.policy.mode is Mode.OFF else Screen(self.policy)

    def screen_for_reading(self) -> Screen | None:
        """Return a screen for texts that will be written later, or None if they may be written unchanged."""
        return None if self.policy.mode is Mode.WARN else self.screen()

    def count(self, screen: Screen | None) -> None:
        """After a transaction was written, add the counts of the secrets in its texts to `found`."""
        if screen is not None:
            self.found += screen.found
            screen.found.clear()

    def mask(self, error: EngineError) -> EngineError:
        """Redact secrets in the message and the hint of an error, and return the error."""
        if self.policy.mode is not Mode.OFF:
            error.args = tuple(self.shown(one) if isinstance(one, str) else one for one in error.args)
            error.hint = self.shown(error.hint)
        return error

    def shown(self, text: str) -> str:
        """Return a text with its secrets redacted, or unchanged in the mode `off`."""
        return text if self.policy.mode is Mode.OFF else self.policy.clean(text)[0]


class Screen:
    """The filter for the texts of one transaction. It searches each text for secrets only once.

    In the mode `refuse`, every method raises RefusedError if it finds a secret.
    """

    def __init__(self, policy: SecretsPolicy) -> None:
        self._policy = policy
        self._cache: dict[str, str] = {}
        self._chars = 0
        self._labels: set[str] = set()
        self.found: Counter[str] = Counter()

    def text(self, text: str, place: str) -> str:
        """Return the text to write: with secrets redacted or, in the mode `warn`, unchanged.

        `place` is the name of the field that contains the text, for use in errors.
        """
        if text in self._cache:
            return self._cache[text]
        clean, secrets = self._policy.clean(text)
        if secrets:
            if self._policy.mode is Mode.REFUSE:
                raise refused(place, [secret.kind for secret in secrets])
            self.found.update(secret.kind for secret in secrets)
            if self._policy.mode is Mode.WARN:
                clean = text
        self._chars += len(text) + len(clean)
        if self._chars > CACHED_CHARS_MAX:
            self._cache.clear()
            self._chars = 0
        self._cache[text] = self._cache[clean] = clean
        return clean

    def label(self, label: str, place: str) -> None:
        """Search a label for secrets. In the mode `warn`, count the secrets.

        A label has only lower-case letters, so its form in capital letters is searched, too.

        Raises:
            RefusedError: The label contains a secret, and the mode is not `warn`.
        """
        if label in self._labels:
            return
        secrets = self._policy.find(label) or self._policy.find(label.upper())
        if secrets and self._policy.mode is not Mode.WARN:
            raise refused(place, [secret.kind for secret in secrets])
        self.found.update(secret.kind for secret in secrets)
        if len(self._labels) < LABELS_MAX:
            self._labels.add(label)

    def line_of(self, text: str) -> int | None:
        """Return the number of the line, counted from 1, on which a text's first secret begins.

        Without a secret, return None.
        """
        secrets = self._policy.find(text)
        return text.count("\n", 0, secrets[0].start) + 1 if secrets else None

    def shown(self, text: str) -> str:
        """Return a text with all secrets redacted, whatever the mode."""
        return self._policy.clean(text)[0]

    def atom(self, body: AtomBody) -> AtomBody:
        """Apply the filter to an atom's body and return the result: the same object if nothing changed."""
        self.label(body.kind, "kind")
        for bucket in body.buckets:
            self.label(bucket, "bucket")
        texts = {name: getattr(body, name) for name in ATOM_TEXTS}
        filtered = {name: self.value(value, name) for name, value in texts.items()}
        if (
            body.kind == ENTITY
            and filtered["content"] != body.content
            and (body.key or "").startswith(KEY_PREFIX)
        ):
            # An entity's key is its case-folded name, in which the detectors would miss secrets.
            filtered["key"] = entity_key(filtered["content"])
        return body if filtered == texts else body._replace(**filtered)

    def value(self, value: Value, place: str) -> Value:
        """Return a copy of `value` with all texts filtered.

        Texts in tuples, lists, dicts and dataclasses are filtered, too. Bytes are returned unchanged. They
        are ids or CBOR data; the texts in CBOR data are filtered after decoding.
        """
        filtered: Any = value
        if isinstance(value, str) and not isinstance(value, Enum):
            filtered = self.text(value, place)
        elif type(value) in (tuple, list):
            filtered = type(filtered)(self.value(one, place) for one in filtered)
        elif type(value) is dict:
            pairs = filtered.items()
            filtered = {self.value(key, place): self.value(one, place) for key, one in pairs}
        elif is_dataclass(value) and not isinstance(value, type):
            before = {one.name: getattr(value, one.name) for one in fields(value) if one.init}
            after = {name: self.value(one, f"{place} {name}".strip()) for name, one in before.items()}
            filtered = value if after == before else replace(filtered, **after)
        return filtered  # type: ignore[no-any-return]

    def _cbor(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value, "edge data")
        if isinstance(value, bytes):
            # Latin-1 maps every byte to a character and back without loss.
            return self.text(value.decode("latin-1"), "edge data").encode("latin-1")
        if isinstance(value, dict):
            return {self._cbor(key): self._cbor(one) for key, one in value.items()}
        if isinstance(value, CBORTag):
            return CBORTag(value.tag, self._cbor(value.value))
        if isinstance(value, (tuple, list, set, frozenset)):
            return type(value)(map(self._cbor, value))
        return value

    def body(self, kind: EventKind, body: Body) -> Body:
        """Apply the filter to the body of an event and return the result.

        Tags that are to be removed are not filtered. They are already recorded, and a redacted tag would not
        match the recorded tag.
        """
        if isinstance(body, AtomBody):
            return self.atom(body)
        if isinstance(body, TagsBody) and kind is not EventKind.TAGS_REMOVED:
            return body._replace(tags=self.value(body.tags, "tags"))
        if isinstance(body, ReasonBody):
            return body._replace(reason=self.text(body.reason, "reason"))
        if isinstance(body, EdgeBody) and body.data:
            return body._replace(data=self._edge_data(body.data))
        if isinstance(body, TypeBody):
            self.label(body.name, "predicate")
        return body

    def _edge_data(self, data: bytes) -> bytes:
        before = unpack(data, "edge data")
        after = self._cbor(before)
        if after == before:
            return data
        packed = pack(after)
        if len(packed) > EDGE_DATA_BYTES_MAX:
            raise LimitError(
                f"edge data has {len(packed)} bytes after its secrets are redacted; at most "
                f"{EDGE_DATA_BYTES_MAX} are allowed"
            )
        return packed


def refused(place: str, kinds: list[str]) -> RefusedError:
    """Return an error that names the kinds of the secrets and the field, but not the text of the secrets."""
    return RefusedError(
        f"{place} contains what looks like a secret: {', '.join(dict.fromkeys(kinds))}",
        hint="remove the secret; if the text is not a secret, allow it in the settings (secrets.allow)",
    )


def summary(counts: Counter[str]) -> str:
    """Return the kinds of secrets and their counts as text, such as `aws-key 2, jwt 1`."""
    return ", ".join(f"{kind} {count}" for kind, count in sorted(counts.items()))
