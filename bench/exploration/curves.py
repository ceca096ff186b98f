"""Pure functions for curves that show the share of relevant text found against the tokens spent.

Question: how much of the relevant text is found after a number of tokens? Data, seed: none.
How: a path contains, for one question, the tokens spent and the share found after each step or each further
whole atom. Two systems are compared at equal mean tokens. If the mean tokens of one system are between two
depths of the other system's paths, the values of these two depths are interpolated linearly.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from bench.retrieval.measures import mean, standard_error


class Point(NamedTuple):
    """The share found after a number of tokens, for one question."""

    tokens: float
    found: float
    """The share of the relevant documents whose whole text was found: 0 to 1."""


class Gain(NamedTuple):
    """The difference between the shares that two systems find for equal tokens, with a standard error."""

    found: float
    error: float


Path = tuple[Point, ...]
"""The points of one question. The first point has no tokens, and tokens never decrease."""


def path_of(parts: Sequence[tuple[int, str | None]], relevant: AbstractSet[str], depth: int) -> Path:
    """Return the path of the parts (tokens, name) up to `depth`. After the last part, it is constant."""
    points, tokens, seen = [Point(0, 0)], 0, set[str]()
    for at in range(depth):
        if at < len(parts):
            tokens += parts[at][0]
            seen |= {parts[at][1] or ""}
        points.append(Point(tokens, len(relevant & seen) / len(relevant)))
    return tuple(points)


def means(paths: Sequence[Path]) -> Path:
    """Return the mean of several paths: a path of the mean tokens and the mean share at each depth."""
    return tuple(
        Point(mean([point.tokens for point in points]), mean([point.found for point in points]))
        for points in zip(*paths, strict=True)
    )


def gain(ends: Sequence[Point], paths: Sequence[Path]) -> Gain:
    """Return the gain of `ends` (one point for each question) over `paths` of the same questions.

    The gain is taken at the mean tokens of `ends`. If they exceed the mean tokens at the last depth of the
    paths, the last depth is used.
    """
    middle = means(paths)
    tokens = mean([point.tokens for point in ends])
    depth = max(at for at, point in enumerate(middle) if point.tokens <= tokens)
    share = 0.0
    if depth + 1 < len(middle):
        share = (tokens - middle[depth].tokens) / (middle[depth + 1].tokens - middle[depth].tokens)
    differences = [
        end.found
        - path[depth].found
        - share * (path[min(depth + 1, len(path) - 1)].found - path[depth].found)
        for end, path in zip(ends, paths, strict=True)
    ]
    return Gain(mean(differences), standard_error(differences))
