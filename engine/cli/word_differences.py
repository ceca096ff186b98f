"""The differences between two texts, word by word, as lines for people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final

from engine.cli.shapes import Line, Span

CONTEXT_WORDS: Final = 5
"""The number of unchanged words that are shown before and after a difference."""
SHOWN_CHARS: Final = 300
"""The maximum number of characters of a removed or added text that are shown."""
COMPARED_MAX: Final = 4_000_000
"""The maximum number of pairs of words that are compared. With more pairs, the changed part of the text is
shown as one difference."""

_WORD: Final = re.compile(r"\s+|\w+|[^\w\s]")


def differences(before: str, after: str) -> Iterator[Line]:
    """Yield a line for each difference: `… the oak beside the [-gate-]{+well+} was planted …`."""
    old, new = _WORD.findall(before), _WORD.findall(after)
    hunks = list(_hunks(old, new))
    for number, (start, end, first, last) in enumerate(hunks):
        least = hunks[number - 1][1] if number else 0
        most = hunks[number + 1][0] if number + 1 < len(hunks) else len(old)
        lead = max(least, start - 2 * CONTEXT_WORDS)
        tail = min(most, end + 2 * CONTEXT_WORDS)
        spans: list[Span] = [("  " + ("… " if lead else "") + "".join(old[lead:start]), "")]
        if start < end:
            spans.append((f"[-{_cut(old[start:end])}-]", "red"))
        if first < last:
            spans.append((f"{{+{_cut(new[first:last])}+}}", "green"))
        spans.append(("".join(old[end:tail]) + (" …" if tail < len(old) else ""), ""))
        yield tuple(spans)


def _cut(words: Sequence[str]) -> str:
    text = "".join(words)
    return text if len(text) <= SHOWN_CHARS else f"{text[:SHOWN_CHARS]}… ({len(text):,} characters)"


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[int, int, int, int]]:
    """Yield each part that differs, as (start, end) in `old` and (start, end) in `new`."""
    from difflib import SequenceMatcher

    least = min(len(old), len(new))
    head = next((at for at in range(least) if old[at] != new[at]), least)
    tail = next((at for at in range(least - head) if old[-1 - at] != new[-1 - at]), least - head)
    end, last = len(old) - tail, len(new) - tail
    if (end - head) * (last - head) > COMPARED_MAX:
        yield head, end, head, last
        return
    matcher = SequenceMatcher(None, old[head:end], new[head:last], autojunk=False)
    for what, *hunk in matcher.get_opcodes():
        if what != "equal":
            start, stop, first, to = hunk
            yield head + start, head + stop, head + first, head + to
