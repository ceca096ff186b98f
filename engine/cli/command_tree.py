"""The tree of commands: names, first lines of the help, and modules.

The module of a command is imported only when the command is used, because its imports take time (measured:
the engine 0.12 s, ingestion 0.08 s more, Rich 0.04 s). `engine --help` and a misspelt command must not need
that time. Therefore the first lines of the help are listed here, and this module imports no part of the
engine, directly or indirectly. This is the only reason why some modules that it imports have imports inside
functions.
"""

from __future__ import annotations

from importlib import import_module

import click

from engine.base import __version__
from engine.cli.cli_session import Session
from engine.cli.command_declaration import GLOBAL_OPTIONS, CommandWithHelp, examples, hyphenated

GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Write": {
        "start": ("start_command", "Find your notes and sessions, and take in what you choose."),
        "init": ("store_commands", "Create an empty store if it does not exist."),
        "ingest": ("import_commands", "Read files or folders into the store."),
        "watch": ("watch_command", "Ingest a folder now, and again whenever files in it change."),
        "import": (
            "import_commands",
            "Import an export of another memory system, or the sessions of an agent.",
        ),
        "add": ("atom_commands", "Add one atom."),
        "relate": ("edge_commands", "Add a relation between two entities."),
        "link": ("edge_commands", "Add an edge between two atoms."),
        "revise": ("atom_commands", "Change an atom's text or fields; its history is kept."),
        "tag": ("atom_commands", "Add tags to an atom."),
        "untag": ("atom_commands", "Remove tags from an atom."),
        "unlink": ("edge_commands", "Hide an edge without deleting it."),
        "unrelate": ("edge_commands", "Hide a relation between two entities without deleting it."),
        "tombstone": ("atom_commands", "Hide atoms from every query without deleting them."),
        "revive": ("atom_commands", "Bring tombstoned atoms back."),
        "supersede": (
            "duplicate_commands",
            "Mark an atom as replaced by another atom; the old atom is kept.",
        ),
        "merge": ("duplicate_commands", "Merge an atom into its near-duplicate."),
        "unmerge": ("duplicate_commands", "Undo a merge."),
        "settle": (
            "duplicate_commands",
            "Settle a conflict: choose the text that is kept.",
        ),
        "revert": ("history_commands", "Undo events by appending events that do the opposite."),
    },
    "Query": {
        "recall": ("recall_commands", "Find the atoms that answer a question best."),
        "context": ("recall_commands", "Find the text that answers a question, ready for a prompt."),
        "bright": ("recall_commands", "Show the atoms that match a question, and their connections."),
        "find": ("edge_commands", "List atoms by their fields, or by following edges."),
        "get": ("atom_commands", "Show an atom (even if it is hidden or erased) or a page."),
        "edges": ("edge_commands", "List the edges of an atom, or of all pieces of a page."),
        "tags": ("edge_commands", "List the tags, each with its number of atoms."),
        "duplicates": ("duplicate_commands", "List groups of near-duplicate atoms."),
        "conflicts": (
            "duplicate_commands",
            "List texts that were changed in two places.",
        ),
        "history": ("history_commands", "List all events of an atom, oldest first."),
        "diff": ("history_commands", "Show what changed between two moments."),
        "why": ("history_commands", "Show where an atom comes from and who changed it."),
        "log": ("history_commands", "List the events of the journal, oldest first."),
        "status": ("store_commands", "Show what is in the store."),
    },
    "Explore": {
        "explore": ("explore_commands", "Answer a question step by step, within a token budget."),
        "explore_recall": (
            "explore_commands",
            "Answer a question with hints; five hints cost about 100 tokens.",
        ),
        "explore_peek": ("explore_commands", "Show about 200 characters of an atom."),
        "explore_expand": ("explore_commands", "Show a whole atom."),
        "explore_neighbors": ("explore_commands", "Show the connections of an atom, an entity or a tag."),
    },
    "Serve": {
        "mcp": ("mcp_command", "Serve the memory to agents over MCP, or install the server in a client."),
        "hooks": ("hooks_command", "Give the memory to the sessions of a client, and take in what is said."),
        "ui": ("service_commands", "Look into a memory with a browser, which checks what it shows."),
        "serve": ("service_commands", "Serve memories to programs and agents over HTTP."),
        "token": ("service_commands", "Make, list and revoke the tokens of `engine serve`."),
    },
    "Maintain": {
        "dream": ("dream_command", "Tag untagged atoms, learn names, and add relations between atoms."),
        "mirror": (
            "mirror_command",
            "Write the memory to Markdown files, and apply the edits made in these files.",
        ),
        "memory": ("store_commands", "List, create, rename or delete named memories."),
        "secrets": ("erase_commands", "Search the store for passwords, keys and other secrets."),
        "erase": ("erase_commands", "Permanently destroy the content and the edges of atoms."),
        "scrub": ("upkeep_commands", "Read the whole store slowly, and check it for damage."),
        "rebuild": ("upkeep_commands", "Rebuild all derived data of the store from the journal."),
        "doctor": ("upkeep_commands", "Show versions and settings, for a bug report."),
    },
    "Move": {
        "seal": ("sealed_commands", "Encrypt a store under a passphrase."),
        "unseal": ("sealed_commands", "Decrypt a sealed store."),
        "sync": ("sync_command", "Keep the same memory on several devices, which meet in a folder."),
        "copy": ("upkeep_commands", "Copy a store to another place or backend, with the same root."),
        "rescue": ("export_commands", "Make a new store from the journal that is left in a damaged store."),
        "export": ("export_commands", "Export the memory for another store or another program."),
        "backup": ("export_commands", "Write the journal to a file, replacing an earlier backup."),
        "verify-backup": ("export_commands", "Check a backup without a store."),
    },
    "Verify": {
        "root": ("history_commands", "Print the overall root: 64 hex digits."),
        "checkpoint": ("checkpoint_commands", "Print a checkpoint to keep outside the store."),
        "verify-checkpoint": ("checkpoint_commands", "Check a saved checkpoint and its signatures."),
        "key": (
            "checkpoint_commands",
            "Make a key that signs checkpoints, or change the keys of a sealed store.",
        ),
        "prove": ("proof_commands", "Create a proof that anyone can check without the store."),
        "terms": ("proof_commands", "Show the index terms of a text, for claims about terms."),
        "proof": ("proof_commands", "Write a page that checks proofs in any browser."),
        "verify-proof": ("proof_commands", "Check a proof, and print what it shows."),
        "verify-root": ("upkeep_commands", "Check that the store matches its journal exactly."),
    },
    "Help": {
        "help": ("help_command", "Show help; with --json, the whole command tree."),
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
        from difflib import get_close_matches

        name = spelled(args[0])
        # Set before the command's options are parsed, so that an error in them can name the command.
        ctx.ensure_object(Session).out.command = name or args[0]
        if name is None and not args[0].startswith("-"):
            near = " or ".join(get_close_matches(hyphenated(args[0]), map(hyphenated, COMMANDS), cutoff=0.8))
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
        params=[*GLOBAL_OPTIONS, version],
        help=HELP,
        epilog=examples(
            "engine ingest notes/", "engine recall 'when is the kettle descaled?'", "engine root"
        ),
        subcommand_metavar="COMMAND ...",
        context_settings={"help_option_names": ["-h", "--help"], "token_normalize_func": hyphenated},
    )


COMPLETION_VARIABLE = "_ENGINE_COMPLETE"
"""The environment variable with which a shell asks for the completion script, and the script for completions.

It is the same for both names of the command.
"""
