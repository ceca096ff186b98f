"""Detectors of API keys and access tokens, whose issuers say how they look."""

from __future__ import annotations

import re
from typing import Final

from engine.commands.secrets.detector import Detector, matching
from engine.commands.secrets.random_values import is_random

AFTER_WORD = r"(?<![0-9A-Za-z])"
_GLUED = r"(?<![0-9A-Za-z+/_-]{24})"
"""Matches before a token. The token may follow a word without a space, but not a long run of base64."""


def _random_if_glued(match: re.Match[str]) -> bool:
    """Return True if the token looks random, or if no letter or digit directly precedes it."""
    before = match.string[match.start() - 1 : match.start()]
    return not (before.isascii() and before.isalnum()) or is_random(match[0])


API_KEYS: Final[tuple[Detector, ...]] = (
    matching(
        "aws-key",
        rf"{_GLUED}(?:AKIA|ASIA|ABIA|ACCA)(?=[A-Z]{{0,15}}[0-9])[A-Z0-9]{{16}}",
        *("AKIA", "ASIA", "ABIA", "ACCA"),
        check=_random_if_glued,
        issued=True,
    ),
    matching(
        "github-token",
        rf"{_GLUED}(?:gh[pousr]_[0-9A-Za-z]{{36,}}+|github_pat_[0-9A-Za-z_]{{40,}}+)",
        *("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"),
        check=_random_if_glued,
        issued=True,
    ),
    matching(
        "gitlab-token",
        rf"{_GLUED}gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat)-[0-9A-Za-z_.-]{{20,}}+",
        *("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "gloas-", "glsoat-"),
        check=_random_if_glued,
        issued=True,
    ),
    matching(
        "slack-token",
        rf"{_GLUED}(?:xox[abeoprs]-[0-9A-Za-z-]{{10,}}+|xapp-[0-9A-Za-z-]{{10,}}+)"
        r"|hooks\.slack\.com/(?:services|workflows)/(?P<secret>[0-9A-Za-z/]{20,}+)",
        *("xox", "xapp-", "hooks.slack.com"),
        check=_random_if_glued,
        issued=True,
    ),
    matching(
        # Issued by `engine token new`.
        "memroot-token",
        rf"{_GLUED}mr_[0-9A-Za-z_-]{{43}}(?![0-9A-Za-z_-])",
        "mr_",
        check=lambda match: is_random(match[0]),
        issued=True,
    ),
    matching(
        "anthropic-key",
        rf"{_GLUED}sk-ant-[a-z0-9]{{3,12}}-[0-9A-Za-z_-]{{20,}}+",
        "sk-ant-",
        check=_random_if_glued,
        issued=True,
    ),
    matching(
        "openai-key",
        rf"{_GLUED}sk-(?:proj|svcacct|admin|None)-[0-9A-Za-z_-]{{20,}}+|{AFTER_WORD}sk-[0-9A-Za-z]{{40,}}+",
        "sk-",
        check=_random_if_glued,
        issued=True,
    ),
    matching(
        "stripe-key",
        rf"{_GLUED}(?:[sr]k_(?:live|test)_[0-9A-Za-z]{{16,}}+|whsec_[0-9A-Za-z+/]{{24,}}+={{0,2}})",
        *("k_live_", "k_test_", "whsec_"),
        check=_random_if_glued,
        issued=True,
    ),
    matching(
        "google-key",
        rf"{_GLUED}(?:AIza[0-9A-Za-z_-]{{35}}(?![0-9A-Za-z_-])|GOCSPX-[0-9A-Za-z_-]{{20,}}+"
        r"|ya29\.[0-9A-Za-z_-]{20,}+)",
        *("AIza", "GOCSPX-", "ya29."),
        check=_random_if_glued,
        issued=True,
    ),
    matching(
        "jwt", r"(?<![0-9A-Za-z+/_-]{24})eyJ[0-9A-Za-z_-]{6,}+\.eyJ[0-9A-Za-z_-]{6,}+\.[0-9A-Za-z_-]*+", "eyJ"
    ),
    matching(
        "bearer",
        rf"{AFTER_WORD}(?:bearer[ \t]{{1,8}}(?P<secret>[0-9A-Za-z._~+/-]{{16,}}+=*+))",
        "bearer",
        check=lambda match: is_random(match["secret"]),
        flags=re.IGNORECASE,
    ),
)
