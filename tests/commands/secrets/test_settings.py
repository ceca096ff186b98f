"""The sources of the secrets policy, its valid values, and the reports about it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine import Engine, SecretsPolicy
from engine.base.errors import InvalidInputError
from engine.commands.secrets.user_patterns import WIDTH_MAX, bounded
from engine.memory.memory_settings import find_secrets
from tests.commands.secrets.samples import SAMPLES
from tests.support.command_line import Cli

KEY = SAMPLES["aws-key"][0][1]


def test_nothing_said_is_off(surroundings: Path) -> None:
    """Without a setting, nothing is detected."""
    assert find_secrets() == (None, "default")
    assert SecretsPolicy().mode == "off"


def test_the_environment_beats_the_files(surroundings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ENGINE_SECRETS sets the mode, and the file's patterns still apply."""
    (surroundings / ".engine.toml").write_text('[secrets]\nmode = "warn"\nallow = ["x{4}"]\n')
    assert find_secrets()[0] == SecretsPolicy("warn", allow=("x{4}",))
    monkeypatch.setenv("ENGINE_SECRETS", "refuse")
    assert find_secrets() == (SecretsPolicy("refuse", allow=("x{4}",)), "ENGINE_SECRETS")


def test_a_file_that_speaks_of_a_store_alone_leaves_secrets_to_the_next(surroundings: Path) -> None:
    """The nearest file with secrets settings applies, even if another file names the store."""
    config = surroundings.parent / "config" / "engine"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('secrets = "redact"\n')
    (surroundings / ".engine.toml").write_text('store = "here"\n')
    assert find_secrets() == (SecretsPolicy("redact"), str(config / "config.toml"))


@pytest.mark.parametrize(
    "text",
    [
        'secrets = "maybe"',
        "secrets = 3",
        "secrets = []",
        '[secrets]\nmode = "redact"\nother = 1',
        '[secrets]\nalso = ["nothing"]',
        '[secrets]\nalso = "email"',
        '[secrets]\nallow = ["(a+)+b"]',
        "[secrets]\nallow = [3]",
        '[secrets.extra]\nOwn = "x"',
        '[secrets.extra]\nown = "a*"',
        "[secrets.extra]\nown = 3",
    ],
)
def test_a_mistake_in_a_file_is_an_error_that_names_it(surroundings: Path, text: str) -> None:
    """A mistake in the secrets settings of a file is an error that names the file."""
    (surroundings / ".engine.toml").write_text(text + "\n")
    with pytest.raises(InvalidInputError, match=r"\.engine\.toml"):
        find_secrets()


@pytest.mark.parametrize("value", ["maybe", 3, "", {"mode": "redact", "x": 1}])
def test_a_program_s_mistake_is_an_error(value: object) -> None:
    """`Engine.open(secrets=…)` accepts a mode, a policy, or a setting as in a file, and nothing else."""
    with pytest.raises(InvalidInputError):
        Engine.open("memory:", secrets=value)


def test_what_is_allowed_is_no_secret() -> None:
    """An allowed text is not a secret; an allowed text within a longer one is."""
    policy = SecretsPolicy("redact", allow=(KEY, r"test-[a-z0-9]{8,20}"))
    assert policy.clean(f"is {KEY}")[0] == f"is {KEY}"
    assert policy.clean("password=test-abc12345")[0] == "password=test-abc12345"
    assert policy.clean("password=test-abc12345-and-X9")[0] == "password=[REDACTED:password]"


def test_kinds_of_one_s_own_and_kinds_left_out() -> None:
    """`extra` adds a kind, and `but` removes one."""
    policy = SecretsPolicy("redact", extra={"ticket": r"\bTCK-\d{4,8}"}, but=("aws-key",))
    assert policy.clean(f"TCK-12345 {KEY}")[0] == f"[REDACTED:ticket] {KEY}"


@pytest.mark.parametrize(
    "pattern",
    ["", "a*", "a+", "(a)", "a|b", "a{1,999}", "a{300}", "a?", "^a", "a$", "[a", "a{", "\\1", "(?i)a",
     "a" * 501, "[z-a]", "a{2,1}", "a??", "a{1,2}{3}", "\\", r"\Z", "[[:alpha:]]("],
)  # fmt: skip
def test_patterns_that_could_be_slow_or_match_nothing_are_refused(pattern: str) -> None:
    """A pattern outside the allowed subset is refused, and the error does not repeat it."""
    with pytest.raises(InvalidInputError):
        bounded(pattern)


@given(st.text(alphabet="ab01[]-^{},?\\dws.()*+|$", max_size=12), st.text(alphabet="ab01-{}", max_size=300))
def test_a_pattern_matches_boundedly_or_is_refused(pattern: str, text: str) -> None:
    """A match of an accepted pattern is never empty or longer than `WIDTH_MAX`."""
    try:
        found = bounded(pattern)
    except InvalidInputError:
        return
    assert all(0 < len(match[0]) <= WIDTH_MAX for match in found.finditer(text))


def test_notes_and_status_tell_kinds_and_counts(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Messages and `status` contain kinds and counts, but no part of a secret, in text and JSON."""
    monkeypatch.setenv("ENGINE_SECRETS", "redact")
    added = cli("add", f"is {KEY}", "--json")
    assert "secrets redacted: aws-key 1" in added.err
    assert cli("status", "--json").data["secrets"] == {"mode": "redact", "origin": "ENGINE_SECRETS"}
    assert "redact (from ENGINE_SECRETS)" in cli("status").out
    assert cli("doctor", "--json").data["secrets"] == {"mode": "redact", "origin": "ENGINE_SECRETS"}
    monkeypatch.setenv("ENGINE_SECRETS", "refuse")
    refused = cli("add", f"is {KEY}", "--json")
    assert (refused.code, refused.envelope["error"]["code"]) == (7, "refused")
    for args in (
        ["get", KEY],
        ["add", "x", "--kind", KEY],
        ["find", "--form", KEY],
        [KEY],
        ["add", "x", KEY],
    ):
        failed = cli(*args, "--json")
        assert failed.code != 0
        assert KEY not in failed.out + failed.err


def test_scan_lists_what_is_there(cli: Cli) -> None:
    """`scan` prints seq, atom, field, kind and a preview and exits with 1, or with 0 if it finds nothing."""
    cli("add", "clean")
    assert cli("secrets", "scan", "--json").data == []
    atom = cli("add", f"is {KEY}", "-t", KEY).out.strip()
    cli("tombstone", atom, "--reason", KEY)
    result = cli("secrets", "scan", "--json")
    assert result.code == 1
    assert [
        (leak["seq"], leak["atoms"], leak["field"], leak["kind"]) for leak in result.envelope["data"]
    ] == [
        (2, [atom], "content", "aws-key"),
        (2, [atom], "tags", "aws-key"),
        (3, [atom], "reason", "aws-key"),
    ]
    assert {leak["preview"] for leak in result.envelope["data"]} == {KEY[:4] + "…"}
    assert KEY not in cli("secrets", "scan").out + result.out + result.err
    assert cli("secrets", "scan", "--kind", "jwt").code == 0
    assert cli("secrets", "scan", "--kind", "nothing").code == 2
    assert cli("secrets", "hide").code == 2


def test_a_dry_run_of_ingest_passes_the_filter_too(
    cli: Cli, surroundings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dry run of `ingest` reports what the filter would skip."""
    monkeypatch.setenv("ENGINE_SECRETS", "refuse")
    (surroundings / "notes").mkdir()
    (surroundings / "notes" / "a.md").write_text(f"is {KEY}\n")
    result = cli("ingest", "notes", "--dry-run", "--json")
    assert result.code == 8
    assert KEY not in result.out + result.err
