"""JSON read strictly, for every format that is made of it."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any, Final, NoReturn

DEPTH_MAX: Final = 64


class JsonError(Exception):
    """Why some bytes are no JSON that is taken."""


def parse(raw: bytes) -> Any:
    """The value that `raw` is: RFC 8259, no NaN or infinity, no key twice, at most 64 levels.

    Raises:
        JsonError: it is none.
    """
    try:
        value = json.loads(
            raw.decode(), object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite
        )
    except UnicodeDecodeError as error:
        raise JsonError(f"not UTF-8 at byte {error.start} of it") from None
    except json.JSONDecodeError as error:
        raise JsonError(f"not JSON: {error.msg} at character {error.pos} of it") from None
    except RecursionError:
        raise JsonError(f"nested deeper than {DEPTH_MAX}") from None
    except ValueError as error:  # a number of thousands of digits
        raise JsonError(f"not JSON: {error}") from None
    if raw.count(b"[") + raw.count(b"{") > DEPTH_MAX:
        _check_depth(value)
    return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        ((twice, _),) = Counter(key for key, _ in pairs).most_common(1)
        raise JsonError(f"the key {twice[:80]!a} is there twice")
    return made


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise JsonError(f"the number {digits[:40]} is too large")
    return value


def _no_constant(name: str) -> NoReturn:
    raise JsonError(f"not JSON: {name}")


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(DEPTH_MAX + 1):
        parts = (
            part.values() if isinstance(part, dict) else part
            for part in level
            if isinstance(part, dict | list)
        )
        level = [item for part in parts for item in part if isinstance(item, dict | list)]
        if not level:
            return
    raise JsonError(f"nested deeper than {DEPTH_MAX}")
