"""The tree of commands: their names, the first lines of their help, and their modules.

The module of a command is imported only when the command is used, because its imports take time (measured:
the engine 0.12 s, ingestion 0.08 s more, Rich 0.04 s). `engine --help` and a misspelt command must not need
that time. Therefore the first lines of the help are listed here, and this module imports no part of the
engine, directly or indirectly. This is the only reason why some modules that it imports have imports inside
functions.
"""

from __future__ import annotations

from importlib import import_module

import click

from engine.base.version import __version__
from engine.cli.command import GLOBAL_OPTIONS, CommandWithHelp, examples, hyphenated
from engine.cli.completion import COMPLETION_OPTIONS
from engine.cli.session import Session

GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Write": {
        "init": ("stores", "Create an empty store if it does not exist."),
        "ingest": ("importing", "Read files or folders into the store."),
        "watch": ("watching", "Ingest a folder now, and again whenever files in it change."),
        "import": ("importing", "Import an export of another memory system."),
        "add": ("atoms", "Add one atom."),
        "relate": ("edges", "Add a relation between two entities."),
        "link": ("edges", "Add an edge between two atoms."),
        "revise": ("atoms", "Change an atom's text or fields; its history is kept."),
        "tag": ("atoms", "Add tags to an atom."),
        "untag": ("atoms", "Remove tags from an atom."),
        "unlink": ("edges", "Hide an edge without deleting it."),
        "unrelate": ("edges", "Hide a relation between two entities without deleting it."),
        "tombstone": ("atoms", "Hide atoms from every query without deleting them."),
        "revive": ("atoms", "Bring tombstoned atoms back."),
        "supersede": ("atoms", "Mark an atom as replaced by another atom; the old atom is kept."),
        "merge": ("atoms", "Merge an atom into its near-duplicate."),
        "unmerge": ("atoms", "Undo a merge."),
        "settle": ("settling", "Settle a conflict between a file and a change by hand."),
        "revert": ("changes", "Undo events by appending events that do the opposite."),
    },
    "Query": {
        "recall": ("recalling", "Find the atoms that answer a question best."),
        "context": ("recalling", "Find the text that answers a question, ready for a prompt."),
        "bright": ("recalling", "Show the atoms that match a question, and their connections."),
        "find": ("edges", "List atoms by their fields, or by following edges."),
        "get": ("atoms", "Show an atom (even if it is hidden or erased) or a page."),
        "edges": ("edges", "List the edges of an atom, or of all pieces of a page."),
        "tags": ("edges", "List the tags, each with its number of atoms."),
        "duplicates": ("atoms", "List groups of near-duplicate atoms."),
        "conflicts": ("settling", "List texts of files that conflict with changes by hand."),
        "history": ("journal", "List all events of an atom, oldest first."),
        "diff": ("changes", "Show what changed between two moments."),
        "why": ("changes", "Show where an atom comes from and who changed it."),
        "log": ("journal", "List the events of the journal, oldest first."),
        "status": ("stores", "Show what is in the store."),
    },
    "Explore": {
        "explore": ("exploring", "Answer a question step by step, within a token budget."),
        "explore_recall": ("exploring", "Answer a question with hints; five hints cost about 100 tokens."),
        "explore_peek": ("exploring", "Show about 200 characters of an atom."),
        "explore_expand": ("exploring", "Show a whole atom."),
        "explore_neighbors": ("exploring", "Show the connections of an atom, an entity or a tag."),
    },
    "Serve": {
        "mcp": ("serving", "Serve the memory to agents over MCP, or install the server in a client."),
        "ui": ("window", "Look into a memory with a browser, which checks what it shows."),
        "serve": ("service", "Serve memories to programs and agents over HTTP."),
        "token": ("tokens", "Make, list and revoke the tokens of `engine serve`."),
    },
    "Maintain": {
        "dream": ("dreaming", "Tag untagged atoms, learn names, and add relations between atoms."),
        "mirror": (
            "mirroring",
            "Write the memory to Markdown files, and apply the edits made in these files.",
        ),
        "memory": ("memories", "List, create, rename or delete named memories."),
        "secrets": ("erasing", "Search the store for passwords, keys and other secrets."),
        "erase": ("erasing", "Permanently destroy the content and the edges of an atom."),
        "scrub": ("scrubbing", "Read the whole store slowly, and check it for damage."),
        "rebuild": ("upkeep", "Rebuild all derived data of the store from the journal."),
        "doctor": ("doctor", "Show versions and settings, for a bug report."),
    },
    "Move": {
        "copy": ("upkeep", "Copy a store to another place or backend, with the same root."),
        "rescue": ("rescuing", "Make a new store from the journal that is left in a damaged store."),
        "export": ("moving", "Export the memory for another store or another program."),
        "backup": ("moving", "Write the journal to a file, replacing an earlier backup."),
        "verify-backup": ("moving", "Check a backup without a store."),
    },
    "Verify": {
        "root": ("journal", "Print the overall root: 64 hex digits."),
        "checkpoint": ("notes", "Print a checkpoint to keep outside the store."),
        "verify-checkpoint": ("notes", "Check a saved checkpoint and its signatures."),
        "key": ("notes", "Create or show a key that signs checkpoints."),
        "prove": ("proving", "Create a proof that anyone can check without the store."),
        "terms": ("proving", "Show the index terms of a text, for claims about terms."),
        "proof": ("proving", "Write a page that checks proofs in any browser."),
        "verify-proof": ("proving", "Check a proof against a root or checkpoint that you trust."),
        "verify-root": ("upkeep", "Check that the store matches its journal exactly."),
    },
    "Help": {
        "help": ("helping", "Show help; with --json, the whole command tree."),
    },
}
"""Help heading → the commands under it, each with a module of engine.cli and the first line of the help."""

HELP = """A memory for agents and people: store texts, ask questions, and verify everything against one root.

--store, --memory, --json, --quiet, --plain, --actor and --wait may also follow the command.
"""

COMMANDS = {name: place for group in GROUPS.values() for name, place in group.items()}


def spelled(name: str) -> str | None:
    """Return the exact name of a command, or None if there is no such command. - and _ are equivalent."""
    return next((one for one in COMMANDS if one.replace("_", "-") == name.replace("_", "-")), None)


_MEANT = {
    "ask": ("recall",),
    "cat": ("get",),
    "check": ("verify-root", "doctor"),
    "create": ("add", "init"),
    "dedup": ("duplicates",),
    "dedupe": ("duplicates",),
    "delete": ("tombstone", "erase"),
    "edit": ("revise",),
    "forget": ("tombstone", "erase"),
    "graph": ("bright", "explore_neighbors"),
    "hide": ("tombstone",),
    "info": ("status",),
    "links": ("edges",),
    "list": ("find",),
    "ls": ("find",),
    "new": ("add", "init"),
    "note": ("add",),
    "notes": ("find",),
    "query": ("recall",),
    "remove": ("tombstone", "erase"),
    "replace": ("revise", "supersede"),
    "restore": ("revive", "import", "rescue"),
    "rm": ("tombstone", "erase"),
    "search": ("recall", "find"),
    "show": ("get",),
    "stats": ("status",),
    "sync": ("ingest", "mirror"),
    "undo": ("revert",),
    "update": ("revise", "ingest"),
}
"""A word that other programs use for a command → the commands of this program that do the same."""
_SIMILAR_MIN = 0.8
"""How alike a word and the name of a command must be, from 0 to 1. Below this, suggestions are often wrong:
`remove` would suggest `prove`."""
_SUGGESTED = 3
"""The largest number of commands that are suggested."""


def suggested(word: str) -> list[str]:
    """Return the commands that the user may have meant by an unknown word, the most likely first.

    Three kinds of commands are tried in turn, and the first kind that has a command is returned: commands
    that do what the word means in other programs; commands whose names contain the word, such as `verify`;
    and commands whose names are spelt in nearly the same way.
    """
    from difflib import get_close_matches

    word = hyphenated(word.lower())
    names = {hyphenated(name): name for name in COMMANDS}
    found = list(_MEANT.get(word, ())) or [names[name] for name in names if word in name.split("-")]
    return (found or [names[name] for name in get_close_matches(word, names, cutoff=_SIMILAR_MIN)])[
        :_SUGGESTED
    ]


def loaded(name: str) -> CommandWithHelp:
    """Return the command with exactly this name, imported on first use."""
    module = import_module(f"engine.cli.{COMMANDS[name][0]}")
    return next(one for one in vars(module).values() if isinstance(one, CommandWithHelp) and one.name == name)


class Tree(click.Group):
    """The command `engine`, which imports the module of a subcommand only when the subcommand is used."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return all command names in help order."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> CommandWithHelp | None:
        """Import and return the command, or return None if the command does not exist."""
        del ctx
        name = spelled(cmd_name)
        return None if name is None else loaded(name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command that `args` names; the error for an unknown name suggests similar names."""
        name = spelled(args[0])
        # Set before the command's options are parsed, so that an error in them can name the command.
        ctx.ensure_object(Session).out.command = name or args[0]
        if name is None and not args[0].startswith("-"):
            near = " or ".join(suggested(args[0]))
            ctx.fail(f"there is no command {args[0]!r}" + (f"; did you mean {near}?" if near else ""))
        return super().resolve_command(ctx, [name or args[0], *args[1:]])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the commands under their headings, without importing any."""
        del ctx
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, line) for name, (_, line) in commands.items()])


def _version(ctx: click.Context, param: click.Parameter, asked: bool) -> None:
    del param
    if asked and not ctx.resilient_parsing:
        ctx.ensure_object(Session).out.answer({"version": __version__}, [f"{ctx.info_name} {__version__}"])
        ctx.exit()


def build() -> Tree:
    """Return the command `engine` without importing its subcommands."""
    version = click.Option(
        ["--version"],
        help="Print the version.",
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=_version,
    )
    return Tree(
        "engine",
        params=[*GLOBAL_OPTIONS, version, *COMPLETION_OPTIONS],
        help=HELP,
        epilog=examples(
            "engine ingest notes/", "engine recall 'when is the kettle descaled?'", "engine root"
        ),
        subcommand_metavar="COMMAND ...",
        context_settings={"help_option_names": ["-h", "--help"], "token_normalize_func": hyphenated},
    )
