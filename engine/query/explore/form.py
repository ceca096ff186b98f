"""The two forms in which an answer is handed out, and what it costs in each.

As JSON, in one line, over MCP and for `--json`; as text in the library, on the command line and in the
prompts of an exploration. The cost is counted on all of that text, the figures about cost and root too.

In both, nothing in a content can end the form it stands in: JSON is JSON, with `<`, `>` and what a
terminal might obey escaped in it; text is indented, with every `<` that could begin markup shown as `‹`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import asdict, replace
from enum import StrEnum
from typing import Any, Final, TypeVar

from engine.base.json_text import dumped
from engine.query.budget import tokens_of
from engine.query.explore.answers import Answer

A = TypeVar("A", bound=Answer)

UNPRICED: Final = 99_999_999
"""Stands for the cost while it is counted: an answer costs at most some tokens less. None is as dear."""

HIDDEN: Final = re.compile(
    "[\xad\u180e\u200b\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Characters that carry a hidden text, and that no script needs as the joiners of some do."""

_MARKUP: Final = re.compile(r"<(?=[A-Za-z/|!?])")


class Form(StrEnum):
    """How an answer is handed out."""

    TEXT = "text"
    JSON = "json"


def plain(answer: Answer) -> dict[str, Any]:
    """An answer as a dictionary of the types of JSON: what it found first, what it says of itself last."""
    fields = asdict(answer)
    about = {name: fields.pop(name) for name in ("cost_tokens", "total_tokens", "seq", "root")}
    return fields | about


def unmarked(text: str) -> str:
    """Text without hidden characters, each shown as U+FFFD, in which no `<` begins what looks like markup."""
    return _MARKUP.sub("‹", HIDDEN.sub("\ufffd", text))


def as_json(answer: Answer) -> str:
    """An answer as it goes over MCP."""
    return dumped(plain(answer))


def priced(answer: A, rendered: Callable[[A], str], spent: int) -> A:
    """The answer with what it costs in the form that `rendered` gives it, after `spent` tokens before it."""
    cost = tokens_of(rendered(replace(answer, cost_tokens=UNPRICED, total_tokens=UNPRICED + spent)))
    return replace(answer, cost_tokens=cost, total_tokens=spent + cost)
