"""What is found for how many tokens, as pure functions.

Question: how much of what answers a question is at hand once so many tokens are spent? Data, seed: none.
How: a path is what one question cost and found after each step, or after each further whole atom. Two
systems are compared at equal mean tokens: between two depths of the other one's paths, as if it went to
the one in some questions and to the other in the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from bench.retrieval.measures import mean, standard_error


class Point(NamedTuple):
    """How far a question has come."""

    tokens: float
    found: float
    """The share of the relevant documents whose whole text is there: 0 to 1."""


class Gain(NamedTuple):
    """What one system finds more than another for the same tokens, and the standard error of that."""

    found: float
    error: float


Path = tuple[Point, ...]
"""The points of one question, the first at no tokens; tokens never fall."""


def path_of(parts: Sequence[tuple[int, str | None]], relevant: AbstractSet[str], depth: int) -> Path:
    """The path of tokens and names that come one after another, to `depth` parts; it stays where they end."""
    points, tokens, seen = [Point(0, 0)], 0, set[str]()
    for at in range(depth):
        if at < len(parts):
            tokens += parts[at][0]
            seen |= {parts[at][1] or ""}
        points.append(Point(tokens, len(relevant & seen) / len(relevant)))
    return tuple(points)


def means(paths: Sequence[Path]) -> Path:
    """The mean path of questions whose paths are equally long."""
    return tuple(
        Point(mean([point.tokens for point in points]), mean([point.found for point in points]))
        for points in zip(*paths, strict=True)
    )


def gain(ends: Sequence[Point], paths: Sequence[Path]) -> Gain:
    """What `ends` have found more than the paths of the same questions at the same mean tokens.

    Beyond the paths' last depth the comparison is with that.
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
