"""The tree of commands: their names and first lines here, each group's file imported only when needed.

Building all commands takes some 60 ms; the one that is asked for, a few.
"""

from __future__ import annotations

from copy import copy
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from engine.cli.light import lighten
from engine.cli.pages import GLOBAL_OPTIONS, examples, running

GROUPS: dict[str, dict[str, tuple[str, str]]] = {
    "Put in": {
        "init": ("stores", "Make an empty store, unless one is there."),
        "ingest": ("ingesting", "Read files or folders into the store."),
        "import": ("importing", "Take in what another memory exported."),
        "add": ("atoms", "Add one atom."),
        "relate": ("relating", "Join two named things by a predicate."),
        "link": ("edges", "Join two atoms by an edge."),
    },
    "Change": {
        "revise": ("atoms", "Change what an atom says; its history is kept."),
        "tag": ("labels", "Put tags on an atom."),
        "untag": ("labels", "Take tags off an atom."),
        "unlink": ("edges", "Hide an edge; it is kept."),
        "unrelate": ("relating", "Hide such a relation; it is kept."),
        "tombstone": ("labels", "Hide atoms everywhere; they are kept."),
        "revive": ("labels", "Bring tombstoned atoms back."),
        "supersede": ("changes", "Let one atom take the place of another, which is kept."),
        "merge": ("duplicates", "Let one atom stand for another that says the same."),
        "unmerge": ("duplicates", "Take a merge back."),
        "revert": ("changes", "Take events back, by events that do the contrary."),
    },
    "Get out": {
        "recall": ("recalling", "Ask a question; get the atoms that answer it best."),
        "context": ("context", "Ask a question; get what answers it as a text for a prompt."),
        "bright": ("bright", "Ask a question; see the atoms it lights up and how they hang together."),
        "find": ("queries", "List atoms by what they are, or by walking edges."),
        "get": ("atoms", "Show one atom, in whatever state it is."),
        "edges": ("edges", "List the edges at an atom."),
        "tags": ("queries", "List the tags and how many atoms have each."),
        "duplicates": ("duplicates", "List groups of atoms that say almost the same."),
        "history": ("journal", "List every event on an atom, the oldest first."),
        "diff": ("changes", "Show what changed between two moments."),
        "why": ("changes", "Show where an atom comes from, and who changed it."),
        "log": ("journal", "List the events of the journal, the oldest first."),
        "status": ("stores", "Show what is in the store."),
    },
    "Explore": {
        "explore": ("explore", "Ask a question; have it looked into step by step, under a budget."),
        "explore_recall": ("exploring", "Ask a question; get hints, about 100 tokens for five."),
        "explore_peek": ("exploring", "See 200 characters of an atom, where it matters."),
        "explore_expand": ("exploring", "See a whole atom."),
        "explore_neighbors": ("exploring", "See what an atom, an entity or a tag is connected to."),
    },
    "Serve": {
        "mcp": ("serving", "Serve the memory to agents over MCP."),
    },
    "Look after": {
        "dream": ("dreaming", "Tag what nobody tagged, learn names, relate what belongs together."),
        "mirror": ("mirroring", "Show the memory as a folder of Markdown, or check one."),
        "memory": ("memories", "List, make, rename or delete the named memories of a root."),
        "secrets": ("secrets", "Look for passwords, keys and the like in what is written already."),
        "erase": ("erasing", "Destroy an atom's content for good, with its edges."),
        "rebuild": ("upkeep", "Make everything but the journal anew from it."),
        "doctor": ("doctor", "Show versions and settings, for a bug report."),
    },
    "Move": {
        "copy": ("upkeep", "Copy a store to another place or kind; the root stays."),
        "export": ("moving", "Write the memory for another place or another program."),
        "backup": ("moving", "Write the journal to a file, in the place of an earlier backup."),
        "verify-backup": ("moving", "Check a backup without any store."),
    },
    "Trust": {
        "root": ("journal", "Print the overall root: 64 hex digits."),
        "checkpoint": ("notes", "Print a checkpoint to keep outside the store."),
        "verify-checkpoint": ("notes", "Check a checkpoint that was kept, and who signed it."),
        "key": ("notes", "Make a key that signs checkpoints, or show one."),
        "prove": ("proving", "Make a proof that somebody without the store can check."),
        "terms": ("proving", "Show by which terms a text is found, for claims about terms."),
        "verify-proof": ("proving", "Check a proof against a root or checkpoint that you trust."),
        "verify-root": ("upkeep", "Check that the store is exactly what its journal says."),
    },
    "Help": {
        "help": ("helping", "Show help; with --json, the whole command tree."),
    },
}
"""Heading → command → (file in engine.cli, first line of its help)."""

COMMANDS = {name: place for group in GROUPS.values() for name, place in group.items()}


class LazyGroup(TyperGroup):
    """A group whose commands are loaded by name."""

    def get_params(self, ctx: Any) -> Any:
        """The global options, converted without pydantic."""
        return lighten(super().get_params(ctx))

    def list_commands(self, ctx: Any) -> list[str]:
        """All names, in the order of the help."""
        del ctx
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command, built on first use, with the global options added; None if there is none."""
        del ctx
        if cmd_name in COMMANDS and cmd_name not in self.commands:
            module = import_module(f"engine.cli.{COMMANDS[cmd_name][0]}")
            shared = [param for param in self.params if param.name in GLOBAL_OPTIONS]
            for name, command in typer.main.get_group(module.app).commands.items():
                command.params.extend(map(copy, shared))
                self.commands[name] = command
        return self.commands.get(cmd_name)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """As in every group; a misspelt name is answered with those it resembles, loaded or not."""
        # Noted before the command's own options are read, so that an error in them can name it.
        running(ctx).out.command = args[0] if args else None
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            from difflib import get_close_matches

            near = " or ".join(get_close_matches(args[0], COMMANDS))
            ctx.fail(f"there is no command {args[0]!r}" + (f"; did you mean {near}?" if near else ""))
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands under their headings, without loading any."""
        del ctx
        for heading, commands in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl([(name, line) for name, (_, line) in commands.items()])


def _remember(ctx: typer.Context, param: typer.CallbackParam, value: Any) -> Any:
    if value is not None and value is not False and param.name is not None:
        running(ctx).option(param.name, value)
    return value


def _version(value: bool) -> None:
    if value:
        from engine.base.version import __version__

        typer.echo(f"engine {__version__}")
        raise typer.Exit


def _option(*names: str, help: str, metavar: str | None = None) -> Any:  # noqa: A002
    return typer.Option(*names, help=help, metavar=metavar, callback=_remember, expose_value=False)


def engine(
    store: Annotated[
        str | None,
        _option(
            "--store",
            metavar="URL",
            help="Where the store is: PATH, leveldb:PATH, sqlite:PATH or memory:. Else ENGINE_STORE, "
            "the nearest .engine.toml, the user's config.toml, or the default place.",
        ),
    ] = None,
    memory: Annotated[
        str | None,
        _option(
            "--memory",
            metavar="NAME",
            help="Which memory, where --store holds several. Else ENGINE_MEMORY, or the file that names "
            "the store.",
        ),
    ] = None,
    json: Annotated[bool, _option("--json", help="Print one JSON object.")] = False,
    quiet: Annotated[bool, _option("--quiet", "-q", help="Say nothing but data and errors.")] = False,
    plain: Annotated[bool, _option("--plain", help="No colours, tables or progress bars.")] = False,
    actor: Annotated[
        str | None,
        _option("--actor", metavar="NAME", help="Who is writing, for the journal. [default: user]"),
    ] = None,
    wait: Annotated[
        float | None,
        _option(
            "--wait", metavar="SECONDS", help="How long to wait for a store that is in use. [default: 2]"
        ),
    ] = None,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """A memory for agents and people: text in, answers out, and one root that commits to all of it.

    --store, --memory, --json, --quiet, --plain, --actor and --wait may also follow the command.
    """
    del store, memory, json, quiet, plain, actor, wait, version


def build() -> LazyGroup:
    """The command `engine`, its subcommands not loaded yet."""
    app = typer.Typer(rich_markup_mode=None)
    app.callback(
        cls=LazyGroup,
        context_settings={"help_option_names": ["-h", "--help"]},
        subcommand_metavar="COMMAND ...",
        epilog=examples(
            "engine ingest notes/", "engine recall 'when is the kettle descaled?'", "engine root"
        ),
    )(engine)
    group = typer.main.get_command(app)
    if not isinstance(group, LazyGroup):
        raise TypeError(f"typer built a {type(group).__name__}")
    return group
