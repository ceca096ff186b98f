"""The tree of commands: their names and first lines, and where each is.

A command's file is imported when that command is asked for, and imports at its top what its commands need.
That takes time (measured: the engine 0.12 s, ingestion 0.08 s more, Rich 0.04 s), so `engine --help` and a
misspelt command must not cause it: the first lines of the help stand here, and this module and those that it
imports load no part of the engine. Where such a module does need one in the course of a command, the import
stands in the function, for this reason and no other.
"""

from __future__ import annotations

from difflib import get_close_matches
from importlib import import_module

import click

from engine.base.version import __version__
from engine.cli.command import GLOBAL_OPTIONS, Page, examples
from engine.cli.completion import COMPLETION_OPTIONS
from engine.cli.session import Session

GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Write": {
        "init": ("stores", "Create an empty store, unless there is one already."),
        "ingest": ("filling", "Read files or folders into the store."),
        "import": ("filling", "Import what another memory system exported."),
        "add": ("atoms", "Add one atom."),
        "relate": ("edges", "Join two named things by a predicate."),
        "link": ("edges", "Join two atoms by an edge."),
        "revise": ("atoms", "Change what an atom says; its history is kept."),
        "tag": ("atoms", "Put tags on an atom."),
        "untag": ("atoms", "Take tags off an atom."),
        "unlink": ("edges", "Hide an edge; it is kept."),
        "unrelate": ("edges", "Hide a relation between two named things; it is kept."),
        "tombstone": ("atoms", "Hide atoms everywhere; they are kept."),
        "revive": ("atoms", "Bring tombstoned atoms back."),
        "supersede": ("atoms", "Replace one atom by another; the old one is kept."),
        "merge": ("atoms", "Merge an atom into another that says the same."),
        "unmerge": ("atoms", "Undo a merge."),
        "revert": ("changes", "Undo events by appending events that do the opposite."),
    },
    "Query": {
        "recall": ("recalling", "Ask a question; get the atoms that answer it best."),
        "context": ("recalling", "Ask a question; get what answers it as a text for a prompt."),
        "bright": ("recalling", "Ask a question; see the matching atoms and how they are connected."),
        "find": ("edges", "List atoms by what they are, or by walking edges."),
        "get": ("atoms", "Show one atom, in whatever state it is."),
        "edges": ("edges", "List the edges at an atom."),
        "tags": ("edges", "List the tags and how many atoms have each."),
        "duplicates": ("atoms", "List groups of atoms that say almost the same thing."),
        "history": ("journal", "List every event on an atom, the oldest first."),
        "diff": ("changes", "Show what changed between two moments."),
        "why": ("changes", "Show where an atom comes from, and who changed it."),
        "log": ("journal", "List the events of the journal, the oldest first."),
        "status": ("stores", "Show what is in the store."),
    },
    "Explore": {
        "explore": ("exploring", "Ask a question; explore it step by step, within a token budget."),
        "explore_recall": ("exploring", "Ask a question; get hints, about 100 tokens for five."),
        "explore_peek": ("exploring", "Show the 200 characters of an atom that matter most."),
        "explore_expand": ("exploring", "Show a whole atom."),
        "explore_neighbors": ("exploring", "Show what an atom, an entity or a tag is connected to."),
    },
    "Serve": {
        "mcp": ("serving", "Serve the memory to agents over MCP."),
    },
    "Maintain": {
        "dream": ("dreaming", "Tag untagged atoms, learn names, relate what belongs together."),
        "mirror": ("mirroring", "Write the memory to a folder of Markdown files, or check one."),
        "memory": ("memories", "List, make, rename or delete the named memories of a root."),
        "secrets": ("erasing", "Search the store for passwords, keys and other secrets."),
        "erase": ("erasing", "Destroy an atom's content and its edges permanently."),
        "rebuild": ("upkeep", "Rebuild everything but the journal from the journal."),
        "doctor": ("doctor", "Show versions and settings, for a bug report."),
    },
    "Move": {
        "copy": ("upkeep", "Copy a store to another place or backend, with the same root."),
        "export": ("moving", "Export the memory for another store or another program."),
        "backup": ("moving", "Write the journal to a file, replacing an earlier backup."),
        "verify-backup": ("moving", "Check a backup without any store."),
    },
    "Verify": {
        "root": ("journal", "Print the overall root: 64 hex digits."),
        "checkpoint": ("notes", "Print a checkpoint to keep outside the store."),
        "verify-checkpoint": ("notes", "Check a saved checkpoint, and who signed it."),
        "key": ("notes", "Make a key that signs checkpoints, or show one."),
        "prove": ("proving", "Make a proof that anyone can check without the store."),
        "terms": ("proving", "Show the terms by which a text is found, for claims about terms."),
        "verify-proof": ("proving", "Check a proof against a root or checkpoint that you trust."),
        "verify-root": ("upkeep", "Check that the store is exactly what its journal says."),
    },
    "Help": {
        "help": ("helping", "Show help; with --json, the whole command tree."),
    },
}
"""Heading → command → (file in engine.cli, first line of its help)."""

HELP = """A memory for agents and people: text in, answers out, and one root that commits to all of it.

--store, --memory, --json, --quiet, --plain, --actor and --wait may also follow the command.
"""

COMMANDS = {name: place for group in GROUPS.values() for name, place in group.items()}


def spelled(name: str) -> str | None:
    """The command that `name` means, written with - or _ between its words; None: there is none."""
    return next((one for one in COMMANDS if one.replace("_", "-") == name.replace("_", "-")), None)


def loaded(name: str) -> Page:
    """The command called just so, imported on first use."""
    module = import_module(f"engine.cli.{COMMANDS[name][0]}")
    return next(one for one in vars(module).values() if isinstance(one, Page) and one.name == name)


class Tree(click.Group):
    """The command `engine`; each subcommand is loaded by its name."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All names, in the order of the help."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> Page | None:
        """The command, imported on first use; None if there is none."""
        del ctx
        name = spelled(cmd_name)
        return None if name is None else loaded(name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As in every group; a misspelt name is answered with those it resembles."""
        name = spelled(args[0])
        # Noted before the command's own options are read, so that an error in them can name it.
        ctx.ensure_object(Session).out.command = name or args[0]
        if name is None and not args[0].startswith("-"):
            near = " or ".join(get_close_matches(args[0], COMMANDS))
            ctx.fail(f"there is no command {args[0]!r}" + (f"; did you mean {near}?" if near else ""))
        return super().resolve_command(ctx, [name or args[0], *args[1:]])

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The commands under their headings, without loading any."""
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
    """The command `engine`, its subcommands not loaded yet."""
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
        context_settings={"help_option_names": ["-h", "--help"]},
    )
