"""Draw docstrings, messages and pages at random for somebody to proofread.

Run it with `make words SEED=1`. The same seed draws the same sample from the same tree. Whoever reads the
sample marks every sentence that they had to read twice.
"""

from __future__ import annotations

import argparse
import ast
import random
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
CODE: Final = ("engine", "backends", "proofs")
MESSAGE_KEYWORDS: Final = ("hint", "help", "description", "instructions")
"""The keyword arguments whose values are shown to a user or to an agent."""

_DOCUMENTED: Final = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings(tree: ast.Module) -> Iterator[str]:
    """Yield every docstring, including the docstrings of constants and fields."""
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and (text := ast.get_docstring(node)) is not None:
            yield f"{getattr(node, 'name', 'module')}: {text}"
        before: ast.AST | None = None
        for statement in getattr(node, "body", []) if isinstance(node, (ast.Module, ast.ClassDef)) else []:
            if isinstance(before, (ast.Assign, ast.AnnAssign)) and isinstance(statement, ast.Expr):
                target = before.target if isinstance(before, ast.AnnAssign) else before.targets[0]
                if isinstance(statement.value, ast.Constant) and isinstance(statement.value.value, str):
                    yield f"{ast.unparse(target)}: {statement.value.value}"
            before = statement


def messages(tree: ast.Module) -> Iterator[str]:
    """Yield the messages of exceptions, and the texts of help pages and tool descriptions."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func).rpartition(".")[2]
        shown = [keyword.value for keyword in node.keywords if keyword.arg in MESSAGE_KEYWORDS]
        if name.endswith("Error") or name.startswith("Backend") or name == "Failure":
            shown += node.args[:1]
        yield from filter(_is_sentence, map(_text, shown))


def _text(node: ast.expr) -> str:
    """Return the text of a string, with the expressions of an f-string in braces; empty for anything else."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        parts = (part.value if isinstance(part, ast.Constant) else ast.unparse(part) for part in node.values)
        return "".join(str(part) for part in parts).replace("f'{", "{").replace("}'", "}")
    return ""


def _is_sentence(text: str) -> bool:
    return len(text.split()) > 2


def main() -> None:
    """Print the sample for the seed given on the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("seed", type=int)
    parser.add_argument("--docstrings", type=int, default=60)
    parser.add_argument("--messages", type=int, default=40)
    parser.add_argument("--pages", type=int, default=5)
    parser.add_argument(
        "--code", nargs="+", default=CODE, help="folders to draw docstrings and messages from"
    )
    args = parser.parse_args()
    chance = random.Random(args.seed)
    files = sorted(path for folder in args.code for path in (ROOT / folder).rglob("*.py"))
    trees = [(path.relative_to(ROOT), ast.parse(path.read_text())) for path in files]
    listed = ((ROOT / "docs").rglob("*.md"), ROOT.glob("*.md"), (ROOT / "bench").rglob("*.md"))
    pages = sorted(str(path.relative_to(ROOT)) for paths in listed for path in paths)
    for title, found, count in (
        (
            "Docstrings",
            [f"{path}: {text}" for path, tree in trees for text in docstrings(tree)],
            args.docstrings,
        ),
        ("Messages", [f"{path}: {text}" for path, tree in trees for text in messages(tree)], args.messages),
        ("Pages", pages, args.pages),
    ):
        sys.stdout.write(f"\n# {title}: {count} of {len(found)}\n\n")
        for number, text in enumerate(chance.sample(found, min(count, len(found))), 1):
            sys.stdout.write(f"[{title[0]}{number}] {text}\n\n")


if __name__ == "__main__":
    main()
