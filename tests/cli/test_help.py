"""The help texts, `help --json` and docs/cli.md agree."""

import re

import pytest

from engine.capture.clients import CLIENTS
from engine.cli.command_tree import COMMANDS
from engine.cli.export_commands import FORMATS as EXPORTED
from engine.cli.help_command import EXIT_CODES
from engine.cli.import_commands import FORMATS as IMPORTED
from tests.support.command_line import Cli
from tests.support.command_reference import DOCUMENT, common_lists, common_rows, rendered, sections_of


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(bare: Cli, name: str) -> None:
    """`--help` begins with the summary of the command list and ends with examples of the command."""
    result = bare(name, "--help")
    assert result.code == 0
    assert result.err == ""
    first = next(line for line in result.out.splitlines()[1:] if line.strip())
    assert first.strip() == COMMANDS[name][1]
    examples = result.out.partition("Examples:")[2]
    assert re.search(rf"engine .*\b{name}\b", examples)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_no_section_twice(bare: Cli, name: str) -> None:
    """A help page has each section at most once, whatever the version of Click."""
    sections = re.findall(r"^(\w[\w ]*):$", bare("help", name).out, re.MULTILINE)
    assert sections == [one for one in ("Arguments", "Options", "Examples") if one in sections]


@pytest.mark.parametrize("name", COMMANDS)
def test_help_fits_a_terminal(bare: Cli, name: str) -> None:
    """No line of a help page is wider than 80 columns."""
    assert [line for line in bare("help", name).out.splitlines() if len(line) > 80] == []


def test_no_arguments_show_the_help(bare: Cli) -> None:
    """`engine` without arguments prints the help, which lists every command."""
    result = bare()
    assert (result.code, result.out) == (0, bare("--help").out)
    assert [name for name in COMMANDS if not re.search(rf"^  {name} ", result.out, re.MULTILINE)] == []


def test_the_tree_for_programs(bare: Cli) -> None:
    """`help --json` describes every command with its help, arguments, options and examples."""
    data = bare("help", "--json").data
    assert [command["name"] for command in data["commands"]] == list(COMMANDS)
    for command in data["commands"]:
        assert command["help"].startswith(command["summary"])
        assert command["examples"]
        assert all(part["help"] for part in command["arguments"] + command["options"])
    assert {option["names"][0] for option in data["global_options"]} >= {
        "--store",
        "--json",
        "--quiet",
        "--plain",
    }
    assert data["exit_codes"] == {str(code): meaning for code, meaning in EXIT_CODES.items()}


def test_the_examples_are_commands_with_known_options(bare: Cli) -> None:
    """Every option in an example exists."""
    data = bare("help", "--json").data
    shared = {name for option in data["global_options"] for name in option["names"]}
    for command in data["commands"]:
        own = {name for option in command["options"] for name in option["names"]}
        for example in command["examples"]:
            assert set(re.findall(r"(?<= )--?[a-z][a-z-]*", example)) <= own | shared, example


def test_the_document_has_every_command(bare: Cli) -> None:
    """The command sections of docs/cli.md are those that `tests.support.command_reference` renders."""
    text = DOCUMENT.read_text(encoding="utf-8")
    sections = sections_of(text)
    assert list(sections) == list(COMMANDS)
    commands = bare("help", "--json").data["commands"]
    common = common_rows(commands)
    assert common_lists(common) in text
    for command in commands:
        section = sections[command["name"]]
        made = rendered(command, section, common)
        assert section.strip() == made.strip(), "run tests.support.command_reference"


def test_the_document_has_every_exit_code() -> None:
    """docs/cli.md lists the exit codes and what they mean."""
    text = DOCUMENT.read_text(encoding="utf-8")
    assert [code for code, meaning in EXIT_CODES.items() if f"- {code}: {meaning}" not in text] == []


def test_a_misspelt_command_is_answered_with_its_like(bare: Cli) -> None:
    """An unknown command is a usage error that suggests similar commands."""
    result = bare("recal")
    assert result.code == 2
    assert "did you mean recall" in result.err


def test_the_help_names_every_format(bare: Cli) -> None:
    """The help of `import` and of `export` lists the formats that the commands accept."""
    for name, formats in (("import", IMPORTED), ("export", EXPORTED)):
        assert f"One of: {', '.join(formats)}." in " ".join(bare("help", name).out.split())
    assert f"Or a client: {', '.join(CLIENTS)}." in " ".join(bare("help", "import").out.split())
