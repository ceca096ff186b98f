"""Secrets that are written so that a simple search misses them."""

from __future__ import annotations

import base64
from collections.abc import Callable

import pytest

from engine import Add, Engine, RefusedError
from engine.commands.secrets.policy import SecretsPolicy
from tests.commands.secrets.samples import INNOCENT, SAMPLES, random_like

USUAL = SecretsPolicy("redact")

AWS = "AKIA" + "Q4ZX7N2WT5BV8MRC"
GITHUB = "gh" + "p_" + random_like("gh", 36)
ANTHROPIC = "sk-" + "ant-api03-" + random_like("ant", 80)
GOOGLE = "AI" + "za" + random_like("goog", 35)
CARD = "4111111111111111"


def wide(text: str) -> str:
    """Return a text in full-width characters."""
    return "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in text)


def strewn(text: str, character: str) -> str:
    """Return a text with a character after every fourth character."""
    return character.join(text[at : at + 4] for at in range(0, len(text), 4))


def cut(text: str, joint: str) -> str:
    """Return a text that is divided in its middle."""
    return text[: len(text) // 2] + joint + text[len(text) // 2 :]


LOOKS = str.maketrans("AKEPacepo", "АКЕРасеро")

HIDDEN = [
    ("zero-width space", strewn(AWS, "\u200b"), "aws-key"),
    ("zero-width joiner", strewn(GITHUB, "\u200d"), "github-token"),
    ("soft hyphen", cut(ANTHROPIC, "\u00ad"), "anthropic-key"),
    ("word joiner", strewn(CARD, "\u2060"), "credit-card"),
    ("byte order mark", cut(GOOGLE, "\ufeff"), "google-key"),
    ("variation selector", cut(AWS, "\ufe0f"), "aws-key"),
    ("tag characters", cut(AWS, "\U000e0041"), "aws-key"),
    ("right-to-left mark", cut(AWS, "\u200f"), "aws-key"),
    ("full width", wide(AWS), "aws-key"),
    ("full-width card", wide(CARD), "credit-card"),
    ("bold letters", "".join(chr(0x1D400 + ord(c) - 65) if c.isupper() else c for c in AWS), "aws-key"),
    ("Arabic digits", CARD.translate({48 + n: 0x660 + n for n in range(10)}), "credit-card"),
    ("Cyrillic letters", AWS.translate(LOOKS), "aws-key"),
    ("Cyrillic beginning", GITHUB[:4].translate(LOOKS) + GITHUB[4:], "github-token"),
    ("line break", cut(AWS, "\n"), "aws-key"),
    ("line break of Windows", cut(GITHUB, "\r\n"), "github-token"),
    ("quoted line", cut(GITHUB, "\n> "), "github-token"),
    ("continued line", cut(GITHUB, "\\\n  "), "github-token"),
    ("added texts", cut(AWS, '" + "'), "aws-key"),
    ("adjacent texts", cut(GITHUB, "' '"), "github-token"),
    ("texts on two lines", cut(GITHUB, '"\n    "'), "github-token"),
    ("groups", "AKIA Q4ZX 7N2W T5BV 8MRC", "aws-key"),
    ("glued to a word", "key" + AWS, "aws-key"),
    ("glued at both ends", "my" + AWS + "key", "aws-key"),
    ("glued to a name", "token" + GITHUB, "github-token"),
    ("glued key", "the" + ANTHROPIC, "anthropic-key"),
    ("dotted card", "4111.1111.1111.1111", "credit-card"),
    ("card with underscores", "4111_1111_1111_1111", "credit-card"),
    ("card with slashes", "4111/1111/1111/1111", "credit-card"),
    ("card with en dashes", "4111–1111–1111–1111", "credit-card"),
    ("card with fixed spaces", "4111\u00a01111\u00a01111\u00a01111", "credit-card"),
]


@pytest.mark.parametrize(("secret", "kind"), [case[1:] for case in HIDDEN], ids=[case[0] for case in HIDDEN])
@pytest.mark.parametrize("frame", ["{}", "before {} after", "Größe: {}\nand more"])
def test_a_disguised_secret_is_found(frame: str, secret: str, kind: str) -> None:
    """The whole disguised secret is replaced, and the text around it is kept."""
    text, found = USUAL.clean(frame.format(secret))
    assert [one.kind for one in found] == [kind]
    assert text.startswith(frame.partition("{}")[0])
    for part in (AWS[8:], GITHUB[20:], ANTHROPIC[40:], GOOGLE[20:], CARD[8:]):
        assert part not in text
    assert frame.partition("{}")[2] in text
    assert USUAL.clean(text) == (text, [])


def test_a_password_under_a_name_of_lookalikes_is_found() -> None:
    """A name such as `password` may contain letters of other alphabets and invisible characters."""
    assert USUAL.clean("pаsswоrd = hunter2abc")[0] == "pаsswоrd = [REDACTED:password]"
    assert USUAL.clean("pass\u200bword: plum-Kx9-42q")[0] == "pass\u200bword: [REDACTED:password]"
    assert USUAL.clean("ｐassword＝hunter2abc")[0] == "ｐassword＝[REDACTED:password]"


@pytest.mark.parametrize("kind", [kind for kind in SAMPLES if kind != "private-key"])
def test_every_kind_is_found_in_full_width(kind: str) -> None:
    """Each sample is found if all of its characters are full-width."""
    for frame, secret in SAMPLES[kind]:
        assert [one.kind for one in USUAL.find(wide(frame.format(secret)))] == [kind]


INNOCENT_NEARBY = (
    *INNOCENT,
    "Ночь, улица, фонарь, аптека. Пароль: секретный",
    "Είναι ένα μυστικό κλειδί",
    "日本語のテキスト：パスワードは秘密です（１２３４）",
    "👩\u200d👩\u200d👧 family, ❤\ufe0f and ☎\ufe0f",
    "task-4f2a9c1b7e3d5a6f8091b2c3d4e5f60718293a4b and risk-free",
    "task-proj-refactor-the-old-module-now",
    "disk-admin-guide-for-the-first-version",
    "AKIA\nis the beginning of a key\nfor AWS",
    "ghp_ and then\nmany more words2 follow here",
    "version 4111.1112.1111.1111 and 10.0.0.1",
    base64.b64encode(bytes(range(256)) * 40).decode(),
)


@pytest.mark.parametrize("text", INNOCENT_NEARBY, ids=lambda text: text[:20])
def test_ordinary_text_is_left(text: str) -> None:
    """Text in other alphabets, emoji and names that resemble tokens stay unchanged."""
    assert USUAL.clean(text) == (text, [])


LABEL = "akiaq4zx7n2wt5bv8mrc"


@pytest.mark.parametrize("mode", ["redact", "refuse"])
@pytest.mark.parametrize("field", ["bucket", "kind", "predicate", "actor"])
@pytest.mark.parametrize("secret", [LABEL, CARD])
def test_a_secret_in_a_label_is_refused(mode: str, field: str, secret: str) -> None:
    """A label cannot be redacted, so a command with a secret in a label writes nothing."""
    with Engine.open("memory:", secrets=mode) as engine:
        size = engine.size
        write: dict[str, Callable[[], object]] = {
            "bucket": lambda: engine.add("Three.", buckets=["inbox", secret]),
            "kind": lambda: engine.add("Three.", kind=secret),
            "predicate": lambda: engine.register_type(secret),
            "actor": lambda: engine.apply([Add("Three.")], actor=secret),
        }
        with pytest.raises(RefusedError, match=f"{field} contains what looks like a secret") as caught:
            write[field]()
        assert secret not in str(caught.value)
        assert engine.size == size


def test_a_secret_in_a_label_is_counted_in_the_mode_warn() -> None:
    """The mode `warn` writes the label and counts the secret."""
    with Engine.open("memory:", secrets="warn") as engine:
        engine.add("One.", buckets=[LABEL])
        screen = engine.store.secret_filter
        assert screen is not None
        assert screen.found == {"aws-key": 1}
