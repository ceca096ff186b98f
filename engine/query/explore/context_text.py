"""The text of the context that an exploration collected.

Texts of one source stand together in their order in the source. The heading of the first names the source,
and the headings of the others leave it out:

    [1f0c2a3b 1] notes/tea.md | Kettle
      The kettle is descaled on Mondays.
    [9a2e17c4]
      Vinegar descales the kettle.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from engine.query.explore.explore_actions import Verb
from engine.query.explore.explore_answers import unmarked
from engine.query.explore.quotes import Quote
from engine.query.explore.state import Finding
from engine.query.prompt_text import body, body_within, heading, tokens_of


def context_text(items: Iterable[Finding]) -> str:
    """Return the items as lines of a prompt. Content cannot imitate a heading or markup."""
    return unmarked("".join(_lines(_in_groups(items))))


def answer_within(
    answer: Sequence[Quote], items: Sequence[Finding], budget: int
) -> tuple[tuple[Quote, ...], str]:
    """Return the quotes of an answer and the text of a context that together cost at most `budget` tokens.

    The first quote comes first and costs at most half of the budget. Then come the items, of which the last
    are left out if necessary, and then the other quotes.
    """
    first = answer[0].within(budget // 2) if answer else None
    text = _text_within(items, budget - (first.tokens if first else 0))
    if first is None:
        return (), text
    quotes = (first, *answer[1:])
    costs = accumulate((quote.tokens for quote in quotes), initial=tokens_of(text))
    return quotes[: sum(cost <= budget for cost in costs) - 1], text


def _text_within(items: Sequence[Finding], budget: int) -> str:
    """Return the text of as many items as the budget allows. The first item is cut if necessary."""
    for end in range(len(items), 0, -1):
        if tokens_of(text := context_text(items[:end])) <= budget:
            return text
    for item in items[:1]:
        left = budget - tokens_of(context_text([replace(item, text="")]))
        text = body_within(item.text, left).strip("\n") if left > 0 else ""
        shown = context_text([replace(item, text=text, whole=False)])
        if text.strip() and tokens_of(shown) <= budget:
            return shown
    return ""


def _in_groups(items: Iterable[Finding]) -> Iterator[Finding]:
    """Yield connections and texts without a source, then the texts of each source, sorted by position."""
    groups: dict[str, list[Finding]] = {"": []}
    for item in items:
        groups.setdefault(item.source or "", []).append(item)
    for source, group in groups.items():
        yield from sorted(group, key=lambda one: one.sequence or 0) if source else group


def _lines(items: Iterable[Finding]) -> Iterator[str]:
    source = title = None
    for item in items:
        if item.verb is Verb.NEIGHBORS:
            yield str(item)
        elif item.source != source:
            # A text without a title of its own may consist of the title.
            yield str(replace(item, title=None) if item.title == item.text.strip() else item)
        else:
            shown = None if item.title in (title, item.text.strip()) else item.title
            name = (item.id or "").replace("-", "")
            head = heading(
                *(shown, None, None, None, name),
                digits=item.digits,
                provenance=item.provenance,
                when=item.when,
            )
            yield f"{head}{body(item.text)}\n"
        source, title = item.source, item.title
