"""`--memory`, ENGINE_MEMORY, the setting `memory`, and the command `memory`."""

from __future__ import annotations

from pathlib import Path

import pytest

from engine import Engine
from engine.base.errors import InvalidInputError
from engine.memory.memory_settings import find_memory, find_mirror, find_store
from tests.support.command_line import Cli
from tests.support.leveldb import needs_leveldb

pytestmark = pytest.mark.slow


@pytest.fixture(params=["memories", "sqlite:memories.db"])
def root(request: pytest.FixtureRequest, bare: Cli) -> str:
    """Return the URL of a root with the memories home and work, with one atom each."""
    url = str(request.param)
    for name in ("home", "work"):
        assert bare("--store", url, "--memory", name, "add", f"kettle of {name}").code == 0
    return url


def test_a_command_works_on_the_memory_it_is_given(bare: Cli, root: str) -> None:
    """`--memory` may stand before or after the command, which does not see the other memory."""
    assert [
        hit["atom"]["content"]
        for hit in bare("--store", root, "--memory", "home", "find", "--form", "full", "--json").data
    ] == ["kettle of home"]
    assert "work" not in bare("recall", "kettle", "--store", root, "--memory", "home").out


def test_status_and_doctor_name_the_memory(bare: Cli, root: str) -> None:
    """`status` and `doctor` print the memory and the source of the setting."""
    assert "work (from --memory)" in bare("status", "--store", root, "--memory", "work").out
    told = bare("doctor", "--store", root, "--memory", "work").out
    assert "memory name work" in told
    assert "memory origin --memory" in told
    assert bare("status", "--store", root, "--memory", "work", "--json").data["memory"] == "work"


def test_list_shows_each_memory(bare: Cli, root: str) -> None:
    """`memory list` prints the name, live atoms, events, bytes and root of each memory."""
    listed = bare("memory", "list", "--store", root, "--json").data
    assert [(one["name"], one["state"], one["live_atoms"], one["events"]) for one in listed] == [
        ("home", "usable", 1, 2),
        ("work", "usable", 1, 2),
    ]
    for one in listed:
        assert bare("root", "--store", root, "--memory", one["name"]).out.strip() == one["root"]
        assert one["root"] in bare("memory", "list", "--store", root).out


def test_list_can_show_only_the_names(bare: Cli, root: str) -> None:
    """`memory list --names` prints one name a line, and opens no memory."""
    assert bare("memory", "list", "--names", "--store", root).out.split() == ["home", "work"]
    assert bare("memory", "list", "--names", "--store", root, "--json").data == [
        {"name": "home"},
        {"name": "work"},
    ]


def test_create_rename_delete(bare: Cli, root: str) -> None:
    """`memory create`, `rename` and `delete` work one after another."""
    assert bare("memory", "create", "third", "--store", root, "--json").data["created"] is True
    assert bare("memory", "create", "third", "--store", root, "--json").data["created"] is False
    assert bare("memory", "rename", "third", "fourth", "--store", root).code == 0
    assert bare("memory", "delete", "fourth", "--yes", "--store", root, "--json").data["deleted"] is True
    assert [one["name"] for one in bare("memory", "list", "--store", root, "--json").data] == ["home", "work"]


def test_delete_without_yes_is_refused(bare: Cli, root: str) -> None:
    """Deleting without --yes prints what it would delete and exits with 7; with --dry-run it exits with 0."""
    result = bare("memory", "delete", "work", "--store", root, "--json")
    assert (result.code, result.envelope["error"]["code"]) == (7, "refused")
    assert result.envelope["data"]["memory"]["live_atoms"] == 1
    assert "backups, copies" in bare("memory", "delete", "work", "--dry-run", "--yes", "--store", root).err
    assert bare("root", "--store", root, "--memory", "work").code == 0


def test_a_memory_in_use_is_exit_5(bare: Cli, root: str) -> None:
    """Renaming or deleting an open memory exits with 5."""
    with Engine.open(root, memory="work"):
        for args in (["rename", "work", "office"], ["delete", "work", "--yes"]):
            assert bare("memory", *args, "--store", root, "--wait", "0").code == 5


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["rename", "work", "home"], 6),
        (["rename", "none", "other"], 3),
        (["delete", "none", "--yes"], 3),
        (["create", "../up"], 2),
        (["create"], 2),
        (["list", "work"], 2),
        (["shred", "work"], 2),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else str(value),
)
def test_mistakes_have_their_exit_codes(bare: Cli, root: str, args: list[str], code: int) -> None:
    """A taken name is a conflict, a missing one is not found, and a bad one is invalid."""
    assert bare("memory", *args, "--store", root).code == code


@needs_leveldb
def test_the_flag_beats_the_environment_beats_the_file(
    surroundings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The sources of the memory's name have the same precedence as those of the store."""
    (surroundings / ".engine.toml").write_text('store = "root"\nmemory = "of-the-file"\n')
    assert find_memory(None, None) == ("of-the-file", str(surroundings / ".engine.toml"))
    monkeypatch.setenv("ENGINE_MEMORY", "of-the-environment")
    assert find_memory(None, None) == ("of-the-environment", "ENGINE_MEMORY")
    assert find_memory(None, "of-the-flag") == ("of-the-flag", "--memory")
    assert find_store(None, "of-the-flag").url == str(surroundings / "root" / "of-the-flag")


def test_a_file_s_memory_goes_with_its_store_alone(
    surroundings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file's memory is ignored if `--store` or ENGINE_STORE names another store."""
    (surroundings / ".engine.toml").write_text('store = "root"\nmemory = "work"\n')
    assert find_memory("elsewhere", None) is None
    monkeypatch.setenv("ENGINE_STORE", "elsewhere")
    assert find_memory(None, None) is None
    assert find_store(None) == ("elsewhere", "ENGINE_STORE")


def test_a_mirror_goes_with_the_memory_that_its_file_names(surroundings: Path) -> None:
    """The mirror of a settings file is ignored for any other memory than the file's."""
    (surroundings / ".engine.toml").write_text('store = "root"\nmemory = "work"\nmirror = "pages"\n')
    assert find_mirror(None) == surroundings / "pages"
    assert find_mirror(None, "work") == surroundings / "pages"
    assert find_mirror(None, "home") is None


@needs_leveldb
def test_a_memory_at_the_default_place(surroundings: Path) -> None:
    """Without a store setting, named memories are in a folder of their own beside the default store."""
    assert Path(find_store(None, "work").url).parts[-3:] == ("engine", "memories", "work")


def test_a_file_names_a_memory_only_with_a_store(surroundings: Path) -> None:
    """A settings file with `memory` but without `store` is refused."""
    (surroundings / ".engine.toml").write_text('memory = "work"\n')
    with pytest.raises(InvalidInputError):
        find_store(None)


def test_a_memory_s_url_in_a_file_counts_from_its_folder(surroundings: Path) -> None:
    """`sqlite+NAME:` is kept in front of a path from a file."""
    (surroundings / ".engine.toml").write_text('store = "sqlite+work:notes.db"\n')
    assert find_store(None).url == f"sqlite+work:{surroundings}/notes.db"


def test_copy_goes_from_one_memory_to_another_of_the_same_file(bare: Cli) -> None:
    """One memory of a file can be copied to another one, but not to itself."""
    bare("--store", "sqlite:m.db", "--memory", "work", "add", "kettle")
    assert bare("copy", "sqlite+work:m.db", "sqlite+copy:m.db").code == 0
    assert bare("copy", "sqlite+work:m.db", "sqlite+work:m.db").code == 2
    roots = {bare("root", "--store", "sqlite:m.db", "--memory", name).out for name in ("work", "copy")}
    assert len(roots) == 1
