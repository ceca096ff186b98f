"""Commands, made from functions: the parameters are the arguments and options, the docstring is their help.

A parameter before `*` is an argument, a parameter after it an option; the fields of `**x: Unpack[…]` are
options, too. The type of the parameter is the type of the value, and a tuple takes several values. The text
in the section `Args` of the docstring is the help. It may begin with a usage in backquotes, such as
`--tag -t TAG`: names other than the one that follows from the name of the parameter, and the word for the
value. `engine.cli.shared_options` explains the parameters of several commands.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from types import NoneType, UnionType
from typing import Annotated, Any, Final, Union, get_args, get_origin, get_type_hints

import click

from engine.base.docstrings import described
from engine.cli.cli_session import Session


class Number(click.FloatRange):
    """A number within bounds. The error messages are written in words.

    A whole number has one spelling: ASCII digits without leading zeros, and a minus sign if it is negative.
    """

    def __init__(self, kind: type[int | float], least: float | None = None, most: float | None = None):
        super().__init__(least, most)
        self.kind = kind

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return the number that `value` contains, or raise a usage error."""
        try:
            if isinstance(value, str) and not _SPELLINGS[self.kind].fullmatch(value):
                raise ValueError(value)
            number = self.kind(value)
        except ValueError:
            self.fail(f"{value!r} is not a {'whole ' * (self.kind is int)}number", param, ctx)
        if self.min is not None and number < self.min:
            self.fail(f"{number} is below the minimum, which is {self.min}", param, ctx)
        if self.max is not None and number > self.max:
            self.fail(f"{number} is above the maximum, which is {self.max}", param, ctx)
        return number

    def _describe_range(self) -> str:
        return ""  # no mathematics in the help


_SPELLINGS: Final = {
    int: re.compile("0|-?[1-9][0-9]{0,18}"),
    float: re.compile(r"-?[0-9]+(\.[0-9]+)?(e-?[0-9]{1,3})?"),
}
"""The type of a number → the texts that are read as such a number."""


def at_least(number: int) -> Number:
    """Return the type of whole numbers that are at least `number`."""
    return Number(int, number)


Natural = Annotated[int, at_least(0)]
Positive = Annotated[int, at_least(1)]
Port = Annotated[int, Number(int, 0, 65_535)]


class Argument(click.Argument):
    """An argument with a description. `CommandWithHelp` prints the description.

    The attribute is not called `help`, because Click 8.5 and later prints an attribute with that name. The
    text would then appear twice.
    """

    def __init__(self, *names: Any, description: str, **attributes: Any) -> None:
        super().__init__(*names, **attributes)
        self.description = description

    @property
    def label(self) -> str:
        """The name shown in help; in brackets if the argument is optional."""
        return str(self.metavar) if self.required else f"[{self.metavar}]"


_USAGE: Final = re.compile(r"(?:`([^`]*)` )?(.*)")
_WORDS: Final = {int: "N", float: "N"}
_NUMBERS: Final = {int: Number(int), float: Number(float)}
_NONE: Final = (None, "", (), False)
"""The defaults that help does not show."""


def _parameters(function: Callable[..., int]) -> Iterator[click.Parameter]:
    """Yield the arguments and options for the parameters of a function after the first, the session."""
    from engine.cli.shared_options import SHARED

    hints, texts = get_type_hints(function, include_extras=True), _texts(function)
    for one in list(inspect.signature(function).parameters.values())[1:]:
        hint = hints[one.name]
        if one.kind is inspect.Parameter.VAR_KEYWORD:
            (fields,) = get_args(hint)
            for name, each in get_type_hints(fields, include_extras=True).items():
                yield _parameter(name, each, _texts(fields)[name], None, is_argument=False)
        else:
            is_argument = one.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
            text = texts.get(one.name) or SHARED[one.name]
            yield _parameter(one.name, hint, text, one.default, is_argument=is_argument)


def _texts(thing: Any) -> dict[str, str]:
    return described(inspect.getdoc(thing) or "").arguments


def _parameter(name: str, hint: Any, text: str, default: Any, *, is_argument: bool) -> click.Parameter:
    """Return the argument or the option for a parameter of a function.

    Args:
        name: The name of the parameter.
        hint: Its type: `bool`, `int`, `float` or `str`, a tuple of them, or a dict. It may be annotated with
            the word for the value, with a type of Click, and with a function that makes the value from the
            text and the name of the option.
        text: The help, perhaps with a usage before it.
        default: The value if none is given; `inspect.Parameter.empty` if the value is required.
        is_argument: True for an argument.
    """
    kinds = get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)
    (kind,) = (one for one in kinds if one is not NoneType)
    notes: list[Any] = []
    if get_origin(kind) is Annotated:
        kind, *notes = get_args(kind)
    several = {tuple: get_args(kind), dict: (str, ...)}.get(get_origin(kind), ())
    kind = several[0] if several else kind
    usage, about = _split(text)
    words = [one for one in [*usage, *notes] if isinstance(one, str) and not one.startswith("-")]
    given: dict[str, Any] = {"required": default is inspect.Parameter.empty}
    given["type"] = next((one for one in notes if isinstance(one, click.ParamType)), _NUMBERS.get(kind, str))
    given["metavar"] = " ".join(words) or (name.upper() if is_argument else _WORDS.get(kind, "NAME"))
    for parse in (one for one in notes if inspect.isfunction(one)):
        given |= {"type": str, "callback": _parsed_by(parse)}
    if is_argument:
        return Argument([name], description=about, nargs=-1 if several else 1, **given)
    if kind is bool:
        given = {"is_flag": True}
    elif several:
        given |= {"multiple": True} if ... in several else {"nargs": len(several)}
    elif not given["required"]:
        given |= {"default": default, "show_default": default not in _NONE and "[default" not in about}
    return click.Option([name, *_names(name, usage)], help=about, **given)


def _names(name: str, usage: list[str]) -> list[str]:
    """Return the names of an option: those of the usage, and the one from the name of the parameter."""
    names = [one for one in usage if one.startswith("-")]
    long = any(one.startswith("--") for one in names)
    return names if long else [hyphenated(f"--{name.rstrip('_')}"), *names]


def _split(text: str) -> tuple[list[str], str]:
    """Return the words of the usage and the rest of a help text."""
    usage, about = _USAGE.fullmatch(text).groups("")  # type: ignore[union-attr]  # it matches every text
    return usage.split(), about


def _parsed_by(parse: Callable[[Any, str], Any]) -> Callable[[click.Context, click.Parameter, Any], Any]:
    def parsed(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
        del ctx
        return None if value is None else parse(value, param.opts[0])

    return parsed


def _remember(ctx: click.Context, param: click.Parameter, value: Any) -> None:
    if value is not None and value is not False and param.name is not None:
        ctx.ensure_object(Session).option(param.name, value)


def _global(*names: str, **attributes: Any) -> click.Option:
    if "metavar" not in attributes:
        attributes["is_flag"] = True
    return click.Option(names, callback=_remember, expose_value=False, **attributes)


GLOBAL_OPTIONS: list[click.Parameter] = [
    _global(
        "--store",
        metavar="URL",
        help="The store: PATH, leveldb:PATH, sqlite:PATH, postgresql://USER@HOST/DB or memory:. Default: "
        "ENGINE_STORE, the nearest .engine.toml, the user's config.toml, or the standard location.",
    ),
    _global(
        "--memory",
        metavar="NAME",
        help="The name of the memory, if --store holds several memories. Default: ENGINE_MEMORY, or the file "
        "that names the store.",
    ),
    _global("--json", help="Print the result as one JSON object."),
    _global("--quiet", "-q", help="Print only results and errors."),
    _global("--plain", help="No colours, tables or progress bars."),
    _global("--full", help="Print whole ids, and every line of long reports."),
    _global("--actor", metavar="NAME", help="The actor recorded in the journal. [default: user]"),
    _global(
        "--wait",
        metavar="SECONDS",
        type=Number(float),
        help="Seconds to wait for a store that is in use. [default: 2]",
    ),
]
"""The options accepted both before and after the command; if one is repeated, the last value is used."""


class CommandWithHelp(click.Command):
    """A command with a help page.

    The global options may also follow the command, except one that the command declares itself.
    """

    def __init__(self, *args: Any, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.own = list(self.params)
        """The command's own arguments and options."""
        names = {name for one in self.own for name in one.opts}
        self.params += [one for one in GLOBAL_OPTIONS if names.isdisjoint(one.opts)]

    @property
    def arguments(self) -> list[Argument]:
        """The command's arguments, in order."""
        return [param for param in self.own if isinstance(param, Argument)]

    @property
    def options(self) -> list[click.Option]:
        """The command's own options, in help order."""
        return [param for param in self.own if isinstance(param, click.Option)]

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        """Return the part of the usage line after the command's name, such as `[OPTIONS] ID TAG...`."""
        del ctx
        return ["[OPTIONS]", *(one.label + "..." * (one.nargs == -1) for one in self.arguments)]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the arguments and the command's own options; `engine --help` lists the global options."""
        records = [option.get_help_record(ctx) for option in self.options]
        for heading, rows in (
            ("Arguments", [(one.label, one.description) for one in self.arguments]),
            ("Options", [record for record in records if record is not None]),
        ):
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)
        formatter.write_paragraph()
        formatter.write_text(
            "The options of `engine --help`, such as --json and --store URL, are accepted, too."
        )


def examples(*lines: str) -> str:
    r"""Return an epilog with one example on each line (`\b` prevents Click from joining the lines)."""
    return "\b\nExamples:\n" + "\n".join(f"  {line}" for line in lines)


def hyphenated(name: str) -> str:
    """Return the name of a command or an option with `-` in place of each `_`."""
    return name.replace("_", "-")


def command(*lines: str, name: str | None = None) -> Callable[[Callable[..., int]], CommandWithHelp]:
    """Turn a function into a command. `lines` are the examples.

    The function receives the session, then the arguments and options by name, and returns the exit code. The
    docstring is the help. The command has the function's name unless `name` is given.
    """

    def made(function: Callable[..., int]) -> CommandWithHelp:
        text = described(inspect.getdoc(function) or "")
        return CommandWithHelp(
            name or function.__name__,
            callback=click.make_pass_decorator(Session, ensure=True)(function),
            params=list(_parameters(function)),
            help=f"{text.summary}\n\n{text.about}".strip(),
            epilog=examples(*lines),
            context_settings={"token_normalize_func": hyphenated},
        )

    return made
