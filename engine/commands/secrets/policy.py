"""The secrets policy, which defines the kinds of secrets to detect and how detected secrets are treated."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Final, NamedTuple

from engine.base.errors import InvalidInputError
from engine.base.validation import choice, label, several
from engine.commands.secrets.builtin_detectors import DETECTORS
from engine.commands.secrets.detector import Detector
from engine.commands.secrets.disguise import Looked, folded, joined
from engine.commands.secrets.user_patterns import bounded

ROUNDS_MAX: Final = 4
"""The maximum number of repeated searches of a text after the secrets in the text were replaced."""

PATTERNS_MAX = 32
"""The maximum number of patterns in the setting `allow`, and the maximum number of kinds in `extra`."""


MARKS: Final = ("_", "-", "/", ".", "")
"""Characters of which most texts lack some, so that many literals need not be searched."""


class Secret(NamedTuple):
    """The position and the kind of a secret in a text. The text of the secret is not included."""

    start: int
    end: int
    kind: str


def redacted(text: str, secrets: Sequence[Secret]) -> str:
    """Return the text with `[REDACTED:kind]` in place of each secret."""
    parts, at = [], 0
    for secret in secrets:
        parts += [text[at : secret.start], f"[REDACTED:{secret.kind}]"]
        at = secret.end
    return "".join([*parts, text[at:]])


class Mode(StrEnum):
    """The treatment of detected secrets when text is written."""

    OFF = "off"
    """Texts are not searched for secrets."""
    WARN = "warn"
    """Secrets are written unchanged, and counted."""
    REDACT = "redact"
    """`[REDACTED:kind]` is written in place of each secret."""
    REFUSE = "refuse"
    """Nothing is written, and an error names the kind and the place of the secret."""


@dataclass(frozen=True, slots=True)
class SecretsPolicy:
    """The treatment of secrets (the mode), and the kinds and patterns of text that count as secrets.

    Patterns are written in the subset of regular expressions that `engine.commands.secrets.user_patterns`
    describes.

    Raises:
        InvalidInputError: A mode, kind or pattern is not valid.
    """

    mode: Mode | str = Mode.OFF
    allow: tuple[str, ...] = ()
    """Patterns of texts that are not secrets. A pattern must match the whole text that a detector found."""
    extra: Mapping[str, str] = field(default_factory=dict)
    """User-defined patterns of secrets: kind → patterns."""
    also: tuple[str, ...] = ()
    """Kinds of secrets to detect in addition to the default kinds: `email`, `phone` or both."""
    but: tuple[str, ...] = ()
    """Kinds of secrets that are not detected."""
    detectors: tuple[Detector, ...] = field(init=False, repr=False, compare=False)
    allowed: tuple[re.Pattern[str], ...] = field(init=False, repr=False, compare=False)
    marked: Mapping[str, list[tuple[str, int]]] = field(init=False, repr=False, compare=False)
    """The literals of the detectors and the detectors' numbers, by a character that the literals contain."""

    def __post_init__(self) -> None:
        """Validate the fields and compile the patterns."""
        texts = {
            name: tuple(map(str, several(getattr(self, name), name))) for name in ("allow", "also", "but")
        }
        if not isinstance(self.extra, Mapping):
            raise InvalidInputError("extra must map kinds to patterns")
        if max(len(self.extra), len(texts["allow"])) > PATTERNS_MAX:
            raise InvalidInputError(f"at most {PATTERNS_MAX} patterns are allowed")
        kinds = {detector.kind for detector in DETECTORS}
        for kind in (*texts["also"], *texts["but"]):
            if kind not in kinds | set(self.extra):
                raise InvalidInputError(
                    f"there is no kind of secret {ascii(kind)[:80]}",
                    hint=f"the known kinds are: {', '.join(sorted(kinds))}",
                )
        detectors = [
            Detector(label(kind, "kind"), partial(_spans, bounded(one))) for kind, one in self.extra.items()
        ]
        enabled = [
            one
            for one in (*DETECTORS, *detectors)
            if one.kind not in texts["but"] and (one.usual or one.kind in texts["also"])
        ]
        marked: dict[str, list[tuple[str, int]]] = {mark: [] for mark in MARKS}
        for rank, detector in enumerate(enabled):
            for literal in detector.literals or ("",):
                marked[next(mark for mark in MARKS if mark in literal)].append((literal, rank))
        for name, value in (
            ("mode", choice(Mode, self.mode, "secrets")),
            *texts.items(),
            ("extra", dict(self.extra)),
            ("detectors", tuple(enabled)),
            ("allowed", tuple(map(bounded, texts["allow"]))),
            ("marked", marked),
        ):
            object.__setattr__(self, name, value)

    def with_mode(self, mode: str, origin: str) -> SecretsPolicy:
        """Return a copy of the policy with a different mode; errors name `origin` as the source of the mode.

        Raises:
            InvalidInputError: `mode` is not the name of a mode.
        """
        try:
            return replace(self, mode=mode)
        except InvalidInputError as error:
            raise InvalidInputError(f"{origin}: {error}") from None

    def with_kinds(self, kinds: Sequence[str]) -> SecretsPolicy:
        """Return a policy that detects only `kinds`, or this policy if `kinds` is empty."""
        if not kinds:
            return self
        all_kinds = {detector.kind for detector in DETECTORS} | set(self.extra)
        return replace(self, also=tuple(kinds), but=tuple(sorted(all_kinds - set(kinds))))

    def find(self, text: str) -> list[Secret]:
        """Return the positions and kinds of the secrets in a text, sorted and not overlapping, in every mode.

        Disguised secrets are found, too (`engine.commands.secrets.disguise`).

        Overlapping matches are joined; the result has the kind of the match that begins first. If several
        matches begin at the same position, the longest match determines the kind. If several matches are the
        longest, the match of the earliest detector determines the kind.
        """
        looked = Looked(text)
        spans, literals = self._spans_in(looked)
        plain = folded(text)
        if plain is not None:
            looked = plain
            more, literals = self._spans_in(plain)
            spans += more
        ends = {-end for _, end, _ in spans}
        for token in joined(looked, literals, ends) if literals else ():
            spans += self._spans_in(token)[0]
        secrets: list[Secret] = []
        for start, negative_end, rank in sorted(spans):
            if secrets and start < secrets[-1].end:
                secrets[-1] = secrets[-1]._replace(end=max(secrets[-1].end, -negative_end))
            else:
                secrets.append(Secret(start, -negative_end, self.detectors[rank].kind))
        return secrets

    def _spans_in(self, looked: Looked) -> tuple[list[tuple[int, int, int]], list[str]]:
        """Return (start, -end, detector number) of each secret in a form of a text.

        The second result has the texts in it around which a token may be divided.
        """
        text = looked.text
        spans = list[tuple[int, int, int]]()
        inside = [
            one for mark, pairs in self.marked.items() if mark in text for one in pairs if one[0] in text
        ]
        for rank in dict.fromkeys(rank for _, rank in inside):
            for start, end in self.detectors[rank].find(text):
                if end > start and not any(one.fullmatch(text, start, end) for one in self.allowed):
                    first, last = looked.span(start, end)
                    spans.append((first, -last, rank))
        return spans, [literal for literal, rank in inside if self.detectors[rank].issued]

    def clean(self, text: str) -> tuple[str, list[Secret]]:
        """Return the text with all secrets redacted, in every mode, and the secrets that were found.

        Applying this method to the returned text does not change the text.
        """
        removed: list[Secret] = []
        for _ in range(ROUNDS_MAX):
            secrets = self.find(text)
            if not secrets:
                break
            removed += secrets
            text = redacted(text, secrets)
        return text, removed


SETTINGS = ("mode", "allow", "extra", "also", "but")


def _spans(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    return (match.span() for match in pattern.finditer(text))


def policy_of(setting: object, origin: str) -> SecretsPolicy:
    """Return the policy for a setting, which is a mode or a table with the arguments of `SecretsPolicy`.

    Raises:
        InvalidInputError: The setting is not a valid mode or table. The message names `origin`, the source of
            the setting.
    """
    if isinstance(setting, SecretsPolicy):
        return setting
    try:
        if isinstance(setting, str):
            return SecretsPolicy(setting)
        if not isinstance(setting, Mapping) or set(setting) - set(SETTINGS):
            raise InvalidInputError(f"secrets must be a mode, or a table with {', '.join(SETTINGS)}")
        for name in ("allow", "also", "but"):
            if not _are_texts(setting.get(name, ())):
                raise InvalidInputError(f"{name} must be a list of texts")
        if not isinstance(setting.get("extra", {}), Mapping) or not _are_texts(
            setting.get("extra", {}).values()
        ):
            raise InvalidInputError("extra must be a table that maps kinds to patterns")
        return SecretsPolicy(**setting)
    except InvalidInputError as error:
        raise InvalidInputError(f"{origin}: {error}", hint=error.hint) from None


def _are_texts(setting: object) -> bool:
    return (
        isinstance(setting, Iterable)
        and not isinstance(setting, (str, bytes))
        and all(isinstance(one, str) for one in setting)
    )
