"""Texts that are detected as secrets, and texts that are not."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bench.labelled_secrets import FORMS, FURTHER, HELD_OUT, PAGE_LINES, Form, harmless, is_left, labelled
from engine.commands.secrets.builtin_detectors import DETECTORS, iban_end, is_card
from engine.commands.secrets.policy import SecretsPolicy
from tests.commands.secrets.samples import INNOCENT, SAMPLES, UNUSUAL, pem
from tests.support.children import run
from tests.support.soak import FACTOR

pytestmark = pytest.mark.slow

USUAL = SecretsPolicy("redact")
EVERY = SecretsPolicy("redact", also=("email", "phone"))

CASES = [(kind, frame, secret) for kind, cases in SAMPLES.items() for frame, secret in cases]


@pytest.mark.parametrize(("kind", "frame", "secret"), CASES, ids=lambda value: str(value)[:24])
def test_a_secret_is_replaced_and_nothing_else(kind: str, frame: str, secret: str) -> None:
    """Only the secret is replaced by `[REDACTED:kind]`."""
    kept, found = USUAL.clean(frame.format(secret))
    assert kept == frame.format(f"[REDACTED:{kind}]")
    assert [one.kind for one in found] == [kind]


@pytest.mark.parametrize("kind", UNUSUAL)
def test_addresses_and_numbers_are_looked_for_only_when_asked(kind: str) -> None:
    """`email` and `phone` are off by default and can be switched on by name."""
    for frame, secret in UNUSUAL[kind]:
        assert USUAL.clean(frame.format(secret)) == (frame.format(secret), [])
        assert SecretsPolicy(also=(kind,)).clean(frame.format(secret))[0] == frame.format(
            f"[REDACTED:{kind}]"
        )


@pytest.mark.parametrize("text", INNOCENT, ids=lambda text: text[:24])
def test_what_only_looks_like_one_is_left(text: str) -> None:
    """Hashes, UUIDs, images, lock files, code and prose stay unchanged."""
    assert USUAL.clean(text) == (text, [])


def test_every_kind_has_a_sample() -> None:
    """Every kind is found in a sample or in a labelled text."""
    texts = [frame.format(secret) for _, frame, secret in CASES]
    texts += [one.text for one in labelled(1, {"plain": FORMS["plain"]})]
    found = {secret.kind for text in texts for secret in USUAL.find(text)}
    assert found == {detector.kind for detector in DETECTORS if detector.usual}


@pytest.mark.parametrize("forms", [FORMS, {**HELD_OUT, **FURTHER}], ids=["usual", "others"])
@pytest.mark.parametrize("mutate", [False, True], ids=["as written", "mutated"])
def test_of_labelled_secrets_99_percent_are_found(forms: dict[str, Form], mutate: bool) -> None:
    """Of made-up secrets of every kind, written in every form, at least 99 % are removed completely."""
    texts = list(labelled(1, forms, mutate=mutate))
    missed = [one for one in texts if is_left(one, USUAL.clean(one.text)[0])]
    assert len(missed) <= len(texts) / 100, missed


def test_harmless_lines_raise_no_alarm() -> None:
    """In hashes, ids, pictures, settings, logs, code and prose, nothing is found: in lines, and in pages."""
    lines = [line for group in harmless(1, share=10).values() for line in group]
    pages = ["\n".join(lines[at : at + PAGE_LINES]) for at in range(0, len(lines), PAGE_LINES)]
    assert [text for text in (*lines, *pages) if USUAL.find(text)] == []


def test_a_key_without_its_end_goes_as_far_as_its_base64() -> None:
    """A key block without its end is redacted up to the end of its base64."""
    cut = pem().rpartition("\n-----END")[0]
    assert (
        USUAL.clean(f"a\n{cut}\n\nPlain words follow.")[0] == "a\n[REDACTED:private-key]Plain words follow."
    )


def test_a_key_in_one_line_of_json() -> None:
    r"""A key block whose line ends are written as the two characters backslash and n is detected."""
    text = '{"private_key": "' + pem().replace("\n", "\\n") + '"}'
    assert "BEGIN" not in USUAL.clean(text)[0]


@pytest.mark.parametrize("cut", ["begin", "end"])
@pytest.mark.parametrize(
    "line",
    ["> {}\n", "{}\n\n", "12 {}\n", '"{}\\n" +\n', "{}\\n", "{} "],
    ids=["mail", "gaps", "numbers", "code", "json", "one"],
)
def test_half_of_a_quoted_key_is_found(cut: str, line: str) -> None:
    """No line of a key is left if its first or its last line is missing, however the key is quoted."""
    first, *body, last = pem().split("\n")
    lines = [*body, last] if cut == "begin" else [first, *body]
    cleaned = USUAL.clean("Before. " + "".join(map(line.format, lines)) + " After.")[0]
    assert cleaned.startswith("Before.")
    assert cleaned.endswith("After.")
    assert not any(one in cleaned for one in body)


def test_headers_inside_a_key_without_its_end() -> None:
    """The base64 after the headers of an encrypted key belongs to the key."""
    first, *body = pem().split("\n")[:-1]
    headers = ["Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-256-CBC,0123456789ABCDEF", ""]
    assert USUAL.clean("\n".join([first, *headers, *body]))[0] == "[REDACTED:private-key]"


def test_a_key_of_ssh2() -> None:
    """The lines of RFC 4716, with four hyphens and a space, are found, too."""
    body = pem().split("\n")[1:-1]
    text = "\n".join(
        ["---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----", *body, "---- END SSH2 ENCRYPTED PRIVATE KEY ----"]
    )
    assert USUAL.clean(text)[0] == "[REDACTED:private-key]"


def test_an_empty_cell_in_a_column_of_secrets() -> None:
    """A row that has no value below the heading `password` does not stop the search."""
    text = "name,password\nkim,\nlee,hunter2hunter2X9"
    assert USUAL.clean(text)[0] == "name,password\nkim,\nlee,[REDACTED:password]"


PIECES = st.one_of(
    st.sampled_from([secret for cases in SAMPLES.values() for _, secret in cases]),
    st.sampled_from([frame.partition("{}")[0] for cases in SAMPLES.values() for frame, _ in cases]),
    st.sampled_from(["[REDACTED:aws-key]", "://", "@", "password=", '"', " ", "\n", "eyJ", "bearer ", "."]),
    st.text(max_size=12),
)


@settings(deadline=None)
@given(st.lists(PIECES, max_size=12).map("".join))
def test_cleaning_again_changes_nothing(text: str) -> None:
    """Cleaning redacted text changes nothing, so the ids that are derived from it are stable."""
    kept = EVERY.clean(text)[0]
    assert EVERY.clean(kept) == (kept, [])


@settings(deadline=None)
@given(st.text(max_size=40), st.sampled_from(CASES), st.text(max_size=40))
def test_a_secret_is_found_between_any_other_text(
    before: str, case: tuple[str, str, str], after: str
) -> None:
    """A secret is removed completely, whatever the lines before and after it contain."""
    _, frame, secret = case
    kept = USUAL.clean(f"{before}\n{frame.format(secret)}\n{after}")[0]
    assert secret not in kept


@given(st.integers(0, 10**14 - 1))
def test_of_ten_last_digits_one_makes_a_card(number: int) -> None:
    """Exactly one of ten check digits makes a card number, unless all digits would be equal."""
    cards = [f"4{number:014d}{last}" for last in range(10)]
    assert sum(map(is_card, cards)) == (number != int("4" * 14))


@given(st.integers(0, 10**18 - 1))
def test_an_iban_with_another_check_number_is_none(number: int) -> None:
    """Exactly one of the 97 check numbers makes a valid IBAN."""
    texts = [f"DE{check:02d}{number:018d}" for check in range(2, 99)]
    assert sum(iban_end(text, 0) is not None for text in texts) == 1


ADVERSARIES = [
    "A" * 200_000,
    "AKIA" * 50_000,
    "eyJ" + "a" * 200_000,
    "eyJaaaaaaa." * 20_000,
    "a://" * 50_000,
    "a://b:" + "c" * 200_000,
    "a://b:c" * 30_000,
    "password=" * 22_000,
    'password="' + "a1" * 100_000,
    'password="a' * 18_000,
    "token" * 40_000,
    "token_-" * 28_000,
    "password" + " " * 200_000,
    "bearer " * 28_000,
    "bearer" + "\t" * 200_000,
    "-----BEGIN PRIVATE KEY-----" * 7_000,
    "-----BEGIN PRIVATE KEY-----" + "\n" * 200_000,
    "-----BEGIN PRIVATE KEY-----" * 3_000 + "-----END PRIVATE KEY-----" * 3_000,
    "4111 " * 40_000,
    "4" * 200_000,
    "DE89 3704 " * 20_000,
    "DE89" * 50_000,
    "a@" * 100_000,
    "a.b@c." * 33_000,
    "+1 212 " * 28_000,
    "+1" + "23" * 100_000,
    "ghp_" + "a" * 200_000,
    "xoxb-" * 40_000,
    "sk-" * 66_000,
    "authorization: basic " * 9_500,
    "\\n" * 100_000,
    "password|" * 22_000,
    "password|\n" * 20_000,
    "a|password|b\n" + "c|d|e\n" * 30_000,
    "key" * 60_000,
    "api key" * 28_000,
    "api_key <a" + ' b="c"' * 30_000,
    "password " + "\\" * 200_000,
    "password=" + "a&" * 100_000,
    "secret_" * 28_000,
    "curl " * 40_000,
    "curl -u a:" * 20_000,
    "mysql -p" * 25_000,
    "docker login " * 15_000,
    "MIIEpAIBAAKCAQEA" * 12_000,
    "MHcCAQEE " * 20_000,
    "ghp_\n" * 40_000,
    "ghp_ " * 40_000,
    "deadbeef\n-us" * 16_000,
    "SK" * 100_000,
    ":AA" * 70_000,
    "dp.st." * 30_000,
    'token = "a1" + ' * 12_000,
    "password: x1\n" * 15_000,
]


TEXT_CHARS = 1 << (20 if FACTOR else 17)
"""The maximum length of an atom's content in long runs of the tests, otherwise an eighth of it."""

LOOK = """
from engine.commands.secrets.policy import SecretsPolicy
from tests.commands.secrets.test_builtin_detectors import ADVERSARIES, TEXT_CHARS

policy = SecretsPolicy(also=("email", "phone"), extra={"own": r"[a-z0-9]{1,200}\\d{3}X"})
for text in ADVERSARIES:
    policy.clean((text * (TEXT_CHARS // len(text) + 1))[:TEXT_CHARS])
print("done")
"""


def test_no_text_is_slow() -> None:
    """Adversarial texts of some 100,000 characters are searched in linear time.

    With a quadratic pattern, the child process would run for hours.
    """
    assert run(LOOK) == (0, "done\n")
