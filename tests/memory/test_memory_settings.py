"""The store that a command uses (conventions: precedence of settings)."""

import os
from pathlib import Path

import pytest

from engine.base.errors import InvalidInputError
from engine.memory.memory_settings import find_store
from tests.support.command_line import Cli


@pytest.fixture
def settings(surroundings: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Set all five places to different stores, with the current folder inside a project."""
    config = surroundings.parent / "config" / "engine"
    config.mkdir(parents=True)
    (config / "config.toml").write_text('store = "of-the-user"\n')
    (surroundings / ".engine.toml").write_text('store = "of-the-project"\n')
    (surroundings / "deep" / "er").mkdir(parents=True)
    monkeypatch.chdir(surroundings / "deep" / "er")
    monkeypatch.setenv("ENGINE_STORE", "of-the-environment")
    return surroundings


def test_the_flag_comes_first(settings: Path) -> None:
    """`--store` takes precedence over every other setting."""
    assert find_store("of-the-flag") == ("of-the-flag", "--store")


def test_then_the_environment(settings: Path) -> None:
    """ENGINE_STORE takes precedence over the files."""
    assert find_store(None) == ("of-the-environment", "ENGINE_STORE")


def test_then_the_project(settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The nearest .engine.toml upwards applies, with paths relative to its folder.

    An empty variable counts as not set.
    """
    monkeypatch.setenv("ENGINE_STORE", "")
    assert find_store(None) == (str(settings / "of-the-project"), str(settings / ".engine.toml"))


def test_then_the_user(settings: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a project file, the user's config.toml applies."""
    monkeypatch.delenv("ENGINE_STORE")
    (settings / ".engine.toml").unlink()
    folder = settings.parent / "config" / "engine"
    assert find_store(None) == (str(folder / "of-the-user"), str(folder / "config.toml"))


def test_at_last_the_default(surroundings: Path) -> None:
    """Without any setting, the store is in the user's data folder."""
    url, origin = find_store(None)
    assert origin == "default"
    assert Path(url).parts[-2:] == ("engine", "store")


@pytest.mark.parametrize(
    ("written", "url"),
    [
        ("sqlite:notes.db", "sqlite:{here}/notes.db"),
        ("leveldb:/abs/store", "leveldb:/abs/store"),
        ("../x", "{here}/../x"),
        ("memory:", "memory:"),
        ("~/notes", "{home}/notes"),
    ],
)
def test_paths_in_a_file_count_from_its_folder(surroundings: Path, written: str, url: str) -> None:
    """A scheme is kept in front of a path from a file, and ~ is the home folder."""
    (surroundings / ".engine.toml").write_text(f'store = "{written}"\n')
    assert find_store(None).url == url.format(here=surroundings, home=os.environ["HOME"])


@pytest.mark.parametrize(
    "text", ["store = 3", "stroe = 'x'", "store = ''", "not toml", "store = 'x'\nother = 1", "\x00", ""]
)
def test_a_file_that_says_nothing_clear_is_an_error(surroundings: Path, text: str) -> None:
    """A settings file with a mistake raises an error."""
    (surroundings / ".engine.toml").write_text(text)
    with pytest.raises(InvalidInputError):
        find_store(None)


def test_status_says_where_the_store_is(bare: Cli, surroundings: Path) -> None:
    """`init` and `status` print the store and the source of the setting."""
    (surroundings / ".engine.toml").write_text('store = "mine"\n')
    assert bare("init", "--json").data["store"] == str(surroundings / "mine")
    assert bare("status", "--json").data["origin"] == str(surroundings / ".engine.toml")


def test_the_option_after_the_command_counts(cli: Cli) -> None:
    """`--store` may follow the command, and the last occurrence applies."""
    data = cli("--store", "first", "init", "--store", "sqlite:second.db", "--json").data
    assert data["store"] == "sqlite:second.db"
