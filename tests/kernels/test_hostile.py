"""No kernel panics, hangs or reads beyond its input, whatever the values are that its types allow."""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import UnionType
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from proofs import events, leaves
from proofs.events import AtomBody, AtomDetail, Entry, EventKind, Header
from tests.kernels.native import native

pytestmark = pytest.mark.slow

STUB = Path(__file__).resolve().parents[2] / "engine" / "kernels" / "_native.pyi"
CODE = ast.parse(STUB.read_text(encoding="utf-8")).body
FUNCTIONS = {node.name: node for node in CODE if isinstance(node, ast.FunctionDef)}
ALIASES = {
    node.target.id: node.value
    for node in CODE
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None
}
"""The names that the stub gives to types → the types."""

BYTES = st.one_of(
    st.binary(max_size=100),
    st.sampled_from([b"", bytes(16), bytes(32), b"\xff" * 32, bytes(range(256)) * 3]),
    # CBOR that promises more than there is, or nests deeply.
    st.sampled_from([b"\x9b" + b"\xff" * 8, b"\x81" * 300, b"\xbf", b"\x5f\x41", b"\xfb\x7f\xf0"]),
)
TEXTS = st.one_of(
    st.text(st.characters(exclude_categories=()), max_size=40),
    st.text(st.characters(max_codepoint=127), max_size=60),
    st.sampled_from(["", "\ud800", "a" * 5000, "A-b" * 300, "\0" * 40, "'s" * 50, "a.b@c#"]),
)
INTEGERS = st.one_of(
    st.integers(-3, 300),
    st.sampled_from([2**16, 2**31, 2**32 - 1, 2**32, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), 10**30]),
)
NUMBERS = st.floats() | st.sampled_from([0.0, -0.0, 1e308, float("nan"), float("inf")])
ANYTHING: SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), INTEGERS, NUMBERS, BYTES, TEXTS),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.lists(inner, max_size=6).map(tuple)),
    max_leaves=12,
)


def filled(form: Any, /, **fields: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Return tuples of this form, in which the fields that are not given can have any value."""
    return st.tuples(*(fields.get(name, ANYTHING) for name in form._fields)).map(lambda found: form(*found))


SIMPLE: dict[str, SearchStrategy[Any]] = {
    "bytes": BYTES,
    "str": TEXTS,
    "int": INTEGERS,
    "float": NUMBERS,
    "bool": st.booleans(),
    "object": ANYTHING,
    "Any": ANYTHING,
    "None": st.none(),
    "type": st.sampled_from([int, tuple, AtomBody, AtomDetail, Header, EventKind, Entry]),
    "Entry": filled(
        Entry,
        header=filled(Header, kind=st.sampled_from(EventKind), detail=filled(AtomDetail) | ANYTHING),
        body=filled(AtomBody) | ANYTHING,
    ),
}
"""The types that the stub names → their values, hostile ones among them."""


def values(annotation: ast.expr) -> SearchStrategy[Any]:
    """Return the values of a type, as the stub writes it."""
    match annotation:
        case ast.Constant(value=None):
            return st.none()
        case ast.Name(id=name):
            return named(name)
        case ast.BinOp(left=left, right=right):
            return values(left) | values(right)
        case ast.Subscript(value=ast.Name(id="list" | "Sequence"), slice=item):
            return st.lists(values(item), max_size=6)
        case ast.Subscript(value=ast.Name(id="dict"), slice=ast.Tuple(elts=[key, value])):
            return st.dictionaries(values(key), values(value), max_size=6)
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=[item, ast.Constant()])):
            return st.lists(values(item), max_size=6).map(tuple)
        case ast.Subscript(value=ast.Name(id="tuple"), slice=ast.Tuple(elts=items)):
            return st.tuples(*map(values, items))
        case ast.Subscript(value=ast.Name(id="Callable"), slice=ast.Tuple(elts=[ast.List(), result])):
            return values(result).map(_returning)
    raise AssertionError(f"no values for {ast.unparse(annotation)}")


def named(name: str) -> SearchStrategy[Any]:
    """Return the values of a class: one of SIMPLE, the table of terms, or a tuple or enum of `proofs`."""
    if name == "Terms":
        return st.just(None).map(lambda _: terms())
    if name in ALIASES:
        return values(ALIASES[name])
    if name in SIMPLE:
        return SIMPLE[name]
    found = getattr(events, name, None) or getattr(leaves, name)
    if isinstance(found, UnionType):
        return st.one_of(*map(filled, get_args(found)), ANYTHING)
    return filled(found) if hasattr(found, "_fields") else st.sampled_from(found)


def _returning(value: Any) -> Callable[..., Any]:
    return lambda *_: value


def terms() -> Any:
    """Return the table of words of the analyzer, with a stemmer that does nothing."""
    made: Any = native().Terms(["the", "a"], ["s"], lambda words: words, lambda word: (word,))
    return made


def arguments(function: ast.FunctionDef) -> SearchStrategy[Sequence[Any]]:
    """Return the argument lists that the types of a function allow."""
    given_types = [argument.annotation for argument in function.args.posonlyargs]
    return st.tuples(*[values(one) for one in given_types if one is not None])


def test_the_stub_lists_every_kernel() -> None:
    """The functions of the module and those of its stub are the same, so no kernel is left out below."""
    found = {
        name for name, value in vars(native()).items() if callable(value) and not isinstance(value, type)
    }
    assert found == set(FUNCTIONS)
    assert all(function.args.posonlyargs for function in FUNCTIONS.values())


@pytest.mark.parametrize("name", FUNCTIONS)
@settings(max_examples=80, suppress_health_check=[*HealthCheck])
@given(data=st.data())
def test_hostile_values_do_no_harm(name: str, data: st.DataObject) -> None:
    """A kernel returns or raises an ordinary exception. A panic is not one, and a crash ends the process."""
    kernel = getattr(native(), name)
    chosen = data.draw(arguments(FUNCTIONS[name]))
    with suppress(Exception):  # not BaseException, of which a panic is a kind
        kernel(*chosen)
