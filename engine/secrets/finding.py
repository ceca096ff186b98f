"""Finding secrets in a text, and putting `[REDACTED:kind]` in their place."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, NamedTuple

from engine.secrets.kinds import Detector

ROUNDS_MAX: Final = 4
"""How often a text is looked through again after something in it was replaced."""


Allowed = Sequence[re.Pattern[str]]


class Secret(NamedTuple):
    """Where a secret is in a text; never what it says."""

    start: int
    end: int
    kind: str


def find(text: str, detectors: Sequence[Detector], allowed: Allowed = ()) -> list[Secret]:
    """The secrets in a text, in order, apart from each other.

    Of those that overlap one span is made, of the kind of the first.

    Args:
        text: to look through.
        detectors: what to look for; of two that begin at one place, the longer, then the earlier counts.
        allowed: what one of these matches as a whole is no secret.
    """
    found: list[tuple[int, int, int]] = []
    for rank, detector in enumerate(detectors):
        for start, end in detector.find(text):
            if end > start and not any(one.fullmatch(text, start, end) for one in allowed):
                found.append((start, -end, rank))
    secrets: list[Secret] = []
    for start, negative_end, rank in sorted(found):
        if secrets and start < secrets[-1].end:
            secrets[-1] = secrets[-1]._replace(end=max(secrets[-1].end, -negative_end))
        else:
            secrets.append(Secret(start, -negative_end, detectors[rank].kind))
    return secrets


def redacted(text: str, secrets: Sequence[Secret]) -> str:
    """The text with `[REDACTED:kind]` for each secret."""
    parts, at = [], 0
    for secret in secrets:
        parts += [text[at : secret.start], f"[REDACTED:{secret.kind}]"]
        at = secret.end
    return "".join([*parts, text[at:]])


def cleaned(text: str, detectors: Sequence[Detector], allowed: Allowed = ()) -> tuple[str, list[Secret]]:
    """The text without secrets, and those it had; cleaning it again changes nothing."""
    every: list[Secret] = []
    for _ in range(ROUNDS_MAX):
        secrets = find(text, detectors, allowed)
        if not secrets:
            break
        every += secrets
        text = redacted(text, secrets)
    return text, every
