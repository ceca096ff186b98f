"""Block rules of the Markdown parser. Each is tried only on the lines on which it can match.

For each line, markdown-it tries one rule after the other until one matches. Most rules look at the first
character of the line first, and most lines begin with a letter. The functions in this module select the rules
by that character, so that the other rules need not be called. The resulting tokens are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from markdown_it import rules_block as rules
from markdown_it.ruler import Ruler
from markdown_it.rules_block import StateBlock

Rule = Callable[[StateBlock, int, int, bool], bool]

_FIRST: Final[dict[Rule, str]] = {
    rules.fence: "`~",
    rules.blockquote: ">",
    rules.hr: "*-_",
    rules.list_block: "*+-0123456789",
    rules.html_block: "<",
    rules.heading: "#",
}
"""Rule → the first characters of the lines that this rule can match. Other rules can match any line."""

_UNDER_TABLE_HEADS: Final = frozenset("|-:")
"""The first characters of the second line of a table."""


class RulesByCharacter(Ruler[Rule]):
    """The enabled rules of another ruler. Each chain of rules is combined into one rule.

    Later changes of the other ruler have no effect.
    """

    def __init__(self, ruler: Ruler[Rule]) -> None:
        super().__init__()
        self._active = ruler.get_active_rules()
        names = ("", "paragraph", "reference", "blockquote", "list")
        self._chains = {name: [_combined(ruler.getRules(name))] for name in names}

    def getRules(self, chainName: str = "") -> list[Rule]:  # noqa: N802, N803 -- names of the base class
        """Return the chain, which has a single rule."""
        return self._chains[chainName]

    def get_active_rules(self) -> list[str]:
        """Return the names of the enabled rules of the other ruler."""
        return self._active


def _combined(chain: list[Rule]) -> Rule:
    """Return a rule that matches if any rule of `chain` matches; the rules are tried in order."""
    tabular = chain[:1] == [rules.table]
    others = chain[tabular:]
    anywhere = [rule for rule in others if rule not in _FIRST]
    characters = {char for rule in others for char in _FIRST.get(rule, "")}
    by_character = {char: [rule for rule in others if char in _FIRST.get(rule, char)] for char in characters}

    def rule(state: StateBlock, line: int, end: int, silent: bool) -> bool:
        src, marks, shifts = state.src, state.bMarks, state.tShift
        if tabular and line + 1 < end:
            at = marks[line + 1] + shifts[line + 1]
            if src[at : at + 1] in _UNDER_TABLE_HEADS and rules.table(state, line, end, silent):
                return True
        at = marks[line] + shifts[line]
        for try_rule in by_character.get(src[at : at + 1], anywhere):
            if try_rule(state, line, end, silent):
                return True
        return False

    return rule
