"""Find out whether two texts say nearly the same: the same words in the same order, with few exceptions.

    words ──▶ the edits from one text to the other ──▶ does an edit change a fact? ──▶ similarity

An edit inserts, removes or replaces a word. Two texts that differ in a number, a name, a negation, a time, a
person or a quantity state different facts, however many words they share. The rules are for English; in other
languages, names and numbers are still recognised.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from engine.text.language import lexicon
from engine.text.language.parts_of_speech import is_verb
from engine.text.language.tokenizer import Token, bare, clean, is_identifier, split

WORDS_MIN: Final = 8
"""The longer one of two texts must have at least this many words."""
WORDS_MAX: Final = 256
"""Longer texts are not compared word by word; their fingerprints are (`engine.text.simhash`)."""
SHARE: Final = 8
"""At most one in this many words of the longer text may be edited."""
EDITS_MAX: Final = 4
"""The largest number of edits, however long the texts are."""
CHARS_MAX: Final = 1 << 13
"""Longer texts are not compared. Texts of `WORDS_MAX` words have about 1,500 characters."""

_NEGATIONS: Final = "cannot neither never no nobody none nor not nothing without hardly barely unless except"
_PERSONS: Final = (
    "i me my mine myself we us our ours ourselves you your yours yourself yourselves he him his himself "
    "she her hers herself they them their theirs themselves who whom whose mother father mom mum dad "
    "sister brother son daughter wife husband aunt uncle"
)
_QUANTITIES: Final = (
    "all any both each either every few fewer half least less many more most much only several some twice "
    "once double always often sometimes rarely seldom usually minimum maximum first last next previous"
)
_TIMES: Final = (
    "monday tuesday wednesday thursday friday saturday sunday weekend january february march april may "
    "june july august september october november december today tomorrow yesterday tonight morning noon "
    "afternoon evening night midnight second seconds minute minutes hour hours day days daily week weeks "
    "weekly month months monthly year years yearly before after since until now then later earlier soon "
    "ago am pm was were will spring summer autumn fall winter"
)
_OPPOSITES: Final = (
    "above below under over up down out off from to inside outside left right north south east west open "
    "opened closed close opens closes begin begins began end ends ended start starts started stop stops "
    "stopped true false yes high higher low lower large larger big bigger small smaller long longer short "
    "shorter good better bad worse best worst new newer old older early late fast faster slow slower hot "
    "cold warm cool same different increase increases increased decrease decreases decreased rise rises "
    "rose falls fell gain gained lose lost win won add added remove removed accept accepted reject "
    "rejected allow allowed forbid forbidden forbids enable enabled disable disabled enter entered leave "
    "leaves love loves loved hate hates hated buy buys bought sell sells sold or black white red green "
    "blue yellow against"
)
_LISTED: Final = f"{_NEGATIONS} {_PERSONS} {_QUANTITIES} {_TIMES} {_OPPOSITES}"
FACTS: Final = frozenset(_LISTED.split()) | lexicon.NUMBERS
"""Words, in small letters, that change the fact that a text states."""

_FILLERS: Final = "a an the that this also too very really quite rather just still so well indeed actually"
FILLERS: Final = frozenset(_FILLERS.split())
"""Words that can be left out, or exchanged for each other, without changing what a text says."""

_ENDS: Final = frozenset(".?!:;")


class Edit(NamedTuple):
    """The replacement of a word. `before` is empty for an insertion, and `after` for a removal."""

    before: str
    after: str

    def __str__(self) -> str:
        """Return the edit on one line: `tea → coffee`, `+ coffee` or `− tea`."""
        if not self.before:
            return f"+ {self.after}"
        return f"{self.before} → {self.after}" if self.after else f"− {self.before}"


class Rewording(NamedTuple):
    """How two texts that say nearly the same differ."""

    similarity: float
    """The share of the words of the longer text that are not edited, up to 1."""
    edits: tuple[Edit, ...]
    """The edits that make the second text of the first one; none if the texts have the same words."""

    @property
    def adds_nothing(self) -> bool:
        """True if only fillers such as `the` or `really` differ, so that the texts say the same."""
        return all(not word or word.lower() in FILLERS for edit in self.edits for word in edit)


class Wording(NamedTuple):
    """The words of a text, prepared for comparisons."""

    words: tuple[str, ...]
    """The words in small letters."""
    written: tuple[str, ...]
    facts: tuple[bool, ...]
    """True for each word that decides which fact the text states."""


def wording_of(text: str) -> Wording | None:
    """Return the words of a text, or None if it is too long to be compared word by word."""
    if len(text) > CHARS_MAX:
        return None
    pieces = split(clean(text))
    words = [piece for piece in pieces if piece.word]
    if len(words) > WORDS_MAX:
        return None
    return Wording(
        tuple([piece.low for piece in words]),
        tuple([piece.text for piece in words]),
        tuple(_facts(pieces)),
    )


def _facts(pieces: Sequence[Token]) -> Iterator[bool]:
    """Yield, for each word, whether it is a number, a name, an identifier or one of FACTS."""
    initial = True
    for piece in pieces:
        if not piece.word:
            initial = initial or piece.text in _ENDS
            continue
        low = bare(piece.low)
        yield (
            low in FACTS
            or low.endswith("n't")
            or any(map(str.isdigit, low))
            or is_identifier(piece.text)
            or (piece.text[0].isupper() and not (initial and _is_common(low)))
        )
        initial = False


def _is_common(word: str) -> bool:
    """Return True if a word at the start of a sentence is surely not a name."""
    lists = (lexicon.FUNCTION_WORDS, lexicon.ADJECTIVES, lexicon.ADVERBS, lexicon.OPENERS, FILLERS)
    return word not in lexicon.GIVEN_NAMES and (any(word in one for one in lists) or is_verb(word))


def reworded(one: Wording, other: Wording) -> Rewording | None:
    """Return how two texts differ, or None if they do not say nearly the same.

    If the arguments are exchanged, the similarity is the same.
    """
    longer = max(len(one.words), len(other.words))
    most = min(longer // SHARE, EDITS_MAX)
    if one.words == other.words:
        return Rewording(1.0, ()) if longer >= WORDS_MIN else None
    if longer < WORDS_MIN or longer - min(len(one.words), len(other.words)) > most:
        return None
    if sum((Counter(one.words) & Counter(other.words)).values()) < longer - most:
        return None
    # The shortest way from one text to the other is not unique. So the same text always comes first.
    swapped = (len(one.words), one.words) > (len(other.words), other.words)
    steps = _steps(other.words, one.words, most) if swapped else _steps(one.words, other.words, most)
    if steps is None:
        return None
    steps = [(after, before) for before, after in steps] if swapped else steps
    if any(at is not None and one.facts[at] for at, _ in steps):
        return None
    if any(at is not None and other.facts[at] for _, at in steps):
        return None
    edits = tuple(Edit(_at(one, at), _at(other, to)) for at, to in steps)
    return Rewording(round(1 - len(edits) / longer, 3), edits)


def _at(text: Wording, index: int | None) -> str:
    return "" if index is None else text.written[index]


_Step = tuple[int | None, int | None]
"""An edit, as the indexes of the word before and after it."""


def _steps(one: Sequence[str], other: Sequence[str], most: int) -> list[_Step] | None:
    """Return the edits between two texts, or None if there are more than `most` edits."""
    start = 0
    while start < min(len(one), len(other)) and one[start] == other[start]:
        start += 1
    end = 0
    while end < min(len(one), len(other)) - start and one[-1 - end] == other[-1 - end]:
        end += 1
    first, second = one[start : len(one) - end], other[start : len(other) - end]
    table = _table(first, second, most)
    if table[-1].get(len(second), most + 1) > most:
        return None
    steps: list[_Step] = []
    i, j = len(first), len(second)
    while i or j:
        cost = table[i][j]
        both = table[i - 1].get(j - 1) if i and j else None
        if both is not None and both + (first[i - 1] != second[j - 1]) == cost:
            i, j = i - 1, j - 1
            if both != cost:
                steps.append((start + i, start + j))
        elif i and table[i - 1].get(j) == cost - 1:
            i -= 1
            steps.append((start + i, None))
        else:
            j -= 1
            steps.append((None, start + j))
    return steps[::-1]


def _table(one: Sequence[str], other: Sequence[str], most: int) -> list[dict[int, int]]:
    """Return the edit distances between the beginnings of two texts.

    The distance between the first i and the first j words is at [i][j]. Only the cells are computed that at
    most `most` edits can reach (Ukkonen 1985).
    """
    far = most + 1
    table = [{j: j for j in range(min(len(other), most) + 1)}]
    for i, word in enumerate(one, 1):
        before, row = table[-1], dict[int, int]()
        for j in range(max(0, i - most), min(len(other), i + most) + 1):
            cost = min(before.get(j, far), row.get(j - 1, far)) + 1
            if j:
                cost = min(cost, before.get(j - 1, far) + (word != other[j - 1]))
            row[j] = cost
        table.append(row)
    return table
