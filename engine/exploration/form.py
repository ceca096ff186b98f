"""The two forms in which an answer is handed out, and what it costs in each.

As JSON, in one line, over MCP and for `--json`; as text in the library, on the command line and in the
prompts of an exploration. The cost is counted on all of that text, the figures about cost and root too.

In both, nothing in a content can end the form it stands in: JSON is JSON, with `<`, `>` and what a
terminal might obey escaped in it; text is indented, with every `<` that could begin markup shown as `‹`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from enum import StrEnum
from typing import Any, Final, TypeVar

from engine.exploration.answers import Answer
from engine.retrieval.budget import tokens_of

A = TypeVar("A", bound=Answer)

UNPRICED: Final = 99_999_999
"""Stands for the cost while it is counted: an answer costs at most some tokens less. None is as dear."""

_ESCAPED_IN_JSON: Final = re.compile(
    "[<>\x7f-\x9f\u061c\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]"
)
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


def dumped(value: object) -> str:
    r"""JSON on one line without spaces; `<`, `>`, DEL, C1, bidi controls and lone surrogates as `\uXXXX`."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _ESCAPED_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def unmarked(text: str) -> str:
    """Text in which no `<` begins what looks like markup: it is shown as `‹`."""
    return _MARKUP.sub("‹", text)


def as_json(answer: Answer) -> str:
    """An answer as it goes over MCP."""
    return dumped(plain(answer))


def priced(answer: A, rendered: Callable[[A], str], spent: int) -> A:
    """The answer with what it costs in the form that `rendered` gives it, after `spent` tokens before it."""
    cost = tokens_of(rendered(replace(answer, cost_tokens=UNPRICED, total_tokens=UNPRICED + spent)))
    return replace(answer, cost_tokens=cost, total_tokens=spent + cost)
