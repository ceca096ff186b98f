"""The analyzer of SPEC section 11, written from the page: its blocks, its stop words, Unicode 14.0."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator

import Stemmer

Ranges = list[tuple[int, int]]

CLIPPED = ("s", "d", "m", "ll", "re", "ve")
LETTERS, UPPER, LOWER = re.compile("[A-Za-z]"), re.compile("[A-Z]"), re.compile("[a-z]")


class SpecAnalyzer:
    """Steps A1 to A7, one code point at a time; needs a Python that has Unicode 14.0 (3.11)."""

    def __init__(self, blocks: dict[str, Ranges], stop_words: frozenset[str]) -> None:
        self.blocks, self.stop_words = blocks, stop_words
        self.stem: Callable[[str], str] = Stemmer.Stemmer("english", 0).stemWord

    def _within(self, character: str, name: str) -> bool:
        return any(first <= ord(character) <= last for first, last in self.blocks[name])

    def class_of(self, c: str) -> str:
        """Return the class of a code point, or an empty text if it has none."""
        gc = unicodedata.category(c)
        if gc in ("Cn", "Cs"):
            return "separated"
        if (gc == "Cf" and c != "\u200b") or self._within(c, "invisible"):
            return "ignored"
        if (gc[0] == "L" or gc == "Nl") and self._within(c, "no space"):
            return "gram"
        if gc[0] in "LMN":
            return "mark" if gc[0] == "M" else "word"
        return "picture" if gc == "So" and self._within(c, "pictographs") else ""

    def prepared(self, text: str) -> str:
        """Apply A1 to A4."""
        kept, marks = [], 0
        for c in text[: 1 << 21]:
            found = self.class_of(c)
            if found == "ignored":
                continue
            marks = marks + 1 if found == "mark" else 0
            if marks <= 30:
                kept.append(
                    " " if found == "separated" else {"\u2019": "'", "\u2010": "-", "\u2011": "-"}.get(c, c)
                )
        return unicodedata.normalize("NFC", "".join(kept))

    def scanned(self, text: str) -> Iterator[tuple[str, str]]:
        """A5: yield (kind, text) of each match."""
        classes, at = [self.class_of(c) for c in text], 0
        while at < len(text):
            begin, kind = at, classes[at]
            if kind == "word":
                at = word_end(text, classes, at)
            elif kind == "gram":
                at = run(classes, at, "gram", "mark")
            else:
                at += 1
            if kind in ("word", "gram", "picture"):
                yield kind, text[begin:at]

    def index_terms(self, text: str, *, query: bool = False) -> list[str]:
        """Return the terms of a text, or of one word of a query."""
        terms: list[str] = []
        for kind, found in self.scanned(self.prepared(text)):
            terms += self.grams(found, query=query) if kind == "gram" else self.word(found)
        return terms

    def query_terms(self, text: str) -> list[str]:
        """Return the terms of a query (last paragraph of section 11)."""
        found = list(dict.fromkeys(self.index_terms(text, query=True)))
        return [term for term in found if term not in self.stop_words] or found

    def grams(self, found: str, *, query: bool) -> list[str]:
        """Apply A6."""
        letters: list[str] = []
        for c in found:
            if self.class_of(c) == "gram":
                letters.append(c)
            else:
                letters[-1] += c
        if len(letters) == 1:
            return [cut(letters[0])]
        terms: list[str] = []
        for number, letter in enumerate(letters):
            if self._within(letter[0], "Han") and not query:
                terms.append(cut(letter))
            terms += [cut(letter + following) for following in letters[number + 1 : number + 2]]
        return terms

    def term(self, x: str) -> str:
        """Apply the rule `term` of A7."""
        if x in self.stop_words:
            return x
        y = cut(x)
        return cut(self.stem(y)) if y and not re.search("[^a-z]", y) else y

    def word(self, w: str) -> list[str]:
        """Apply the rule `word` of A7."""
        e = "++" if w.endswith("++") else "#" if w.endswith("#") else ""
        s = w[: len(w) - len(e)]
        if e == "++" or (e == "#" and LETTERS.fullmatch(s)):
            return [cut(fold(w)), *self.joined(s)]
        if "@" in s:
            return [cut(fold(s)), *(term for half in s.split("@") for term in self.joined(half))]
        return self.joined(s)

    def joined(self, w: str) -> list[str]:
        """Apply the rule `joined` of A7."""
        if "'" in w:
            if fold(w) in self.stop_words:
                return [fold(w)]
            base, _, end = w.rpartition("'")
            if end.lower() in CLIPPED:
                return self.joined(base)
        parts = re.split("[-._']+", w)
        if len(parts) == 1:
            return self.part(w)
        return [cut(fold(w)), *(term for p in parts for term in self.part(p))]

    def part(self, p: str) -> list[str]:
        """Apply the rule `part` of A7."""
        whole = self.term(fold(p))
        if re.fullmatch("[A-Z][A-Z]+s", p):
            return list(dict.fromkeys((whole, self.term(fold(p[:-1])))))
        pieces = pieces_of(p)
        return [whole] if len(pieces) == 1 else [whole, *(self.term(fold(piece)) for piece in pieces)]


def run(classes: list[str], start: int, *allowed: str) -> int:
    """Return the end of the run of characters of these classes that begins at `start`."""
    while start < len(classes) and classes[start] in allowed:
        start += 1
    return start


def word_end(text: str, classes: list[str], at: int) -> int:
    """A5: return the end of the word that begins at `at`."""
    at = run(classes, at, "word", "mark")
    for _ in range(31):
        inner = at
        while text[inner : inner + 1] == "_":
            inner += 1
        if inner == at and text[at : at + 1] in ("-", ".", "'", "@"):
            inner += 1
        end = run(classes, inner, "word", "mark")
        if inner == at or end == inner:
            break
        at = end
    return at + (2 if text[at : at + 2] == "++" else 1 if text[at : at + 1] == "#" else 0)


def pieces_of(p: str) -> list[str]:
    """Apply the rule `pieces` of A7."""
    runs = [""]
    for at, c in enumerate(p):
        before, after, later = p[at - 1 : at], p[at + 1 : at + 2], p[at + 2 : at + 3]
        lone_plural = after == "s" and not LOWER.match(later)
        if at and UPPER.match(c) and (not UPPER.match(before) or (LOWER.match(after) and not lone_plural)):
            runs.append("")
        runs[-1] += c
    pieces: list[str] = []
    for run in runs:
        halves = re.fullmatch("([0-9]+)([^0-9]+)|([^0-9]+)([0-9]+)", run)
        pieces += [half for half in halves.groups() if half] if halves else [run]
    return pieces if len(pieces) <= 8 else [p]


def fold(x: str) -> str:
    """Apply the rule `fold` of A7."""
    return x.lower() if x.isascii() else unicodedata.normalize("NFC", x.casefold())


def cut(x: str) -> str:
    """Apply the rule `cut` of A7."""
    while len(x.encode()) > 64:
        x = x[:-1]
    return x
