"""What is to become of secrets in what is written, and what is found of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Final, NamedTuple

from engine.base.errors import InvalidInputError
from engine.base.validation import choice, label, several
from engine.secrets.kinds import DETECTORS, Detector
from engine.secrets.patterns import bounded

ROUNDS_MAX: Final = 4
"""How often a text is looked through again after something in it was replaced."""

PATTERNS_MAX = 32
"""Of a user's own, of each sort."""


class Secret(NamedTuple):
    """Where a secret is in a text; never what it says."""

    start: int
    end: int
    kind: str


def redacted(text: str, secrets: Sequence[Secret]) -> str:
    """The text with `[REDACTED:kind]` for each secret."""
    parts, at = [], 0
    for secret in secrets:
        parts += [text[at : secret.start], f"[REDACTED:{secret.kind}]"]
        at = secret.end
    return "".join([*parts, text[at:]])


class Mode(StrEnum):
    """What is done about a secret."""

    OFF = "off"
    """Nothing; nobody looks."""
    WARN = "warn"
    """It is written, and counted."""
    REDACT = "redact"
    """`[REDACTED:kind]` is written in its place."""
    REFUSE = "refuse"
    """Nothing is written, and an error says which kind was where."""


@dataclass(frozen=True, slots=True)
class SecretsPolicy:
    """What is to become of secrets: the mode, and what counts as one.

    Patterns are of the part of regular expressions that `engine.secrets.patterns` describes.

    Raises:
        InvalidInputError: a mode, kind or pattern is none.
    """

    mode: Mode | str = Mode.OFF
    allow: tuple[str, ...] = ()
    """Patterns: what one matches as a whole is no secret."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """Kind → pattern of a user's own."""
    also: tuple[str, ...] = ()
    """Kinds that are not looked for otherwise: `email`, `phone`."""
    but: tuple[str, ...] = ()
    """Kinds that are not looked for."""
    detectors: tuple[Detector, ...] = field(init=False, repr=False, compare=False)
    allowed: tuple[re.Pattern[str], ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        """Check and compile."""
        texts = {
            name: tuple(map(str, several(getattr(self, name), name))) for name in ("allow", "also", "but")
        }
        if not isinstance(self.extra, Mapping):
            raise InvalidInputError("extra must map kinds to patterns")
        if max(len(self.extra), len(texts["allow"])) > PATTERNS_MAX:
            raise InvalidInputError(f"at most {PATTERNS_MAX} patterns are allowed")
        known = {detector.kind for detector in DETECTORS}
        for kind in (*texts["also"], *texts["but"]):
            if kind not in known | set(self.extra):
                raise InvalidInputError(
                    f"there is no kind of secret {ascii(kind)[:80]}",
                    hint=f"known: {', '.join(sorted(known))}",
                )
        own = [
            Detector(label(kind, "kind"), partial(_spans, bounded(one))) for kind, one in self.extra.items()
        ]
        looked_for = [
            one
            for one in (*DETECTORS, *own)
            if one.kind not in texts["but"] and (one.usual or one.kind in texts["also"])
        ]
        for name, value in (
            ("mode", choice(Mode, self.mode, "secrets")),
            *texts.items(),
            ("extra", dict(self.extra)),
            ("detectors", tuple(looked_for)),
            ("allowed", tuple(map(bounded, texts["allow"]))),
        ):
            object.__setattr__(self, name, value)

    def with_mode(self, mode: str, origin: str) -> SecretsPolicy:
        """The same with another mode; `origin` is who said so.

        Raises:
            InvalidInputError: there is no such mode.
        """
        try:
            return replace(self, mode=mode)
        except InvalidInputError as error:
            raise InvalidInputError(f"{origin}: {error}") from None

    def with_kinds(self, kinds: Sequence[str]) -> SecretsPolicy:
        """The same, looking only for `kinds`, usual or not; as it is where none is named."""
        if not kinds:
            return self
        known = {detector.kind for detector in DETECTORS} | set(self.extra)
        return replace(self, also=tuple(kinds), but=tuple(sorted(known - set(kinds))))

    def find(self, text: str) -> list[Secret]:
        """The secrets in a text, in order, apart from each other, whatever the mode.

        Of those that overlap one span is made, of the kind of the first; of two that begin at one place
        the longer, then the earlier detector's counts.
        """
        found: list[tuple[int, int, int]] = []
        for rank, detector in enumerate(self.detectors):
            for start, end in detector.find(text):
                if end > start and not any(one.fullmatch(text, start, end) for one in self.allowed):
                    found.append((start, -end, rank))
        secrets: list[Secret] = []
        for start, negative_end, rank in sorted(found):
            if secrets and start < secrets[-1].end:
                secrets[-1] = secrets[-1]._replace(end=max(secrets[-1].end, -negative_end))
            else:
                secrets.append(Secret(start, -negative_end, self.detectors[rank].kind))
        return secrets

    def clean(self, text: str) -> tuple[str, list[Secret]]:
        """The text without secrets, whatever the mode, and those it had; cleaning again changes nothing."""
        every: list[Secret] = []
        for _ in range(ROUNDS_MAX):
            secrets = self.find(text)
            if not secrets:
                break
            every += secrets
            text = redacted(text, secrets)
        return text, every


SETTINGS = ("mode", "allow", "extra", "also", "but")


def _spans(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in pattern.finditer(text))


def policy_of(given: object, origin: str) -> SecretsPolicy:
    """The policy that a settings file says: a mode, or a table of what `SecretsPolicy` takes.

    Raises:
        InvalidInputError: it is neither; `origin` is named.
    """
    if isinstance(given, SecretsPolicy):
        return given
    try:
        if isinstance(given, str):
            return SecretsPolicy(given)
        if not isinstance(given, Mapping) or set(given) - set(SETTINGS):
            raise InvalidInputError(f"secrets is a mode, or a table of {', '.join(SETTINGS)}")
        for name in ("allow", "also", "but"):
            if not _are_texts(given.get(name, ())):
                raise InvalidInputError(f"{name} must be a list of texts")
        if not isinstance(given.get("extra", {}), Mapping) or not _are_texts(given.get("extra", {}).values()):
            raise InvalidInputError("extra must be a table of kinds and patterns")
        return SecretsPolicy(**given)
    except InvalidInputError as error:
        raise InvalidInputError(f"{origin}: {error}", hint=error.hint) from None


def _are_texts(given: object) -> bool:
    return (
        isinstance(given, Iterable)
        and not isinstance(given, (str, bytes))
        and all(isinstance(one, str) for one in given)
    )
