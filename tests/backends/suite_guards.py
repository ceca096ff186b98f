"""Tests of guarded writes and exclusive blocks that every backend must pass."""

from __future__ import annotations

import pytest

from backends.base import Backend, Batch, Guard
from backends.errors import BackendError, GuardFailed
from tests.backends.suite import Opening, batch_of


class GuardSuite(Opening):
    """Tests of guards, one or several, and of the exclusive block."""

    def test_a_guard_that_holds_lets_the_write_through(self, backend: Backend) -> None:
        """A guarded write takes effect if the row has the expected value, or is missing as expected."""
        backend.write(batch_of([(b"a", b"1")]), guard=Guard(b"a", None))
        backend.write(batch_of([(b"a", b"2")]), guard=Guard(b"a", b"1"))
        backend.write(batch_of([(b"a", b"")]), guard=Guard(b"a", b"2"))
        backend.write(batch_of([(b"b", b"3")]), guard=Guard(b"a", b""), durable=False)
        assert list(backend.scan()) == [(b"a", b""), (b"b", b"3")]

    @pytest.mark.parametrize(
        "guard", [Guard(b"a", None), Guard(b"a", b"2"), Guard(b"a", b""), Guard(b"b", b""), Guard(b"b", b"1")]
    )
    def test_a_guard_that_fails_stops_the_write(self, backend: Backend, guard: Guard) -> None:
        """A guard that does not hold prevents the write; an empty value is not a missing row."""
        backend.write(batch_of([(b"a", b"1")]))
        for batch in (batch_of([(b"a", b"9"), (b"c", b"9")]), Batch()):
            with pytest.raises(GuardFailed):
                backend.write(batch, guard=guard)
        assert list(backend.scan()) == [(b"a", b"1")]
        backend.write(batch_of([(b"c", b"3")]))
        assert backend.get(b"c") == b"3"

    def test_a_guard_is_about_the_present_value_whoever_wrote_it(self, backend: Backend) -> None:
        """Writes with other guards, without guards, and deletions change what a guard must expect."""
        backend.write(batch_of([(b"a", b"1")]), guard=Guard(b"a", None))
        for value in (b"2", None, b"3"):
            other = Batch()
            other.rows[b"a"] = value
            before = backend.get(b"a")
            backend.write(other)
            with pytest.raises(GuardFailed):
                backend.write(batch_of([(b"b", b"x")]), guard=Guard(b"a", before))
            backend.write(batch_of([(b"b", b"x")]), guard=Guard(b"a", value))
        many = [b"many %d" % number for number in range(100)]
        for key in many:
            backend.write(batch_of([(key, b"y")]), guard=[Guard(key, None), Guard(b"a", b"3")])
        for key in many:
            with pytest.raises(GuardFailed):
                backend.write(batch_of([(key, b"z")]), guard=Guard(key, None))

    def test_several_guards_that_hold_let_the_write_through(self, backend: Backend) -> None:
        """Several guards that hold allow the write, for present and missing rows."""
        backend.write(batch_of([(b"a", b"1")]), guard=[Guard(b"a", None), Guard(b"b", None)])
        backend.write(batch_of([(b"b", b"2")]), guard=(Guard(b"a", b"1"), Guard(b"b", None)))
        backend.write(batch_of([(b"c", b"3")]), guard=[Guard(b"b", b"2")] * 2, durable=False)
        backend.write(batch_of([(b"d", b"4")]), guard=[])
        assert list(backend.scan()) == [(b"a", b"1"), (b"b", b"2"), (b"c", b"3"), (b"d", b"4")]

    @pytest.mark.parametrize("failing", [Guard(b"b", None), Guard(b"b", b"9"), Guard(b"c", b"")])
    @pytest.mark.parametrize("first", [True, False])
    def test_one_of_several_guards_that_fails_stops_the_write(
        self, backend: Backend, failing: Guard, first: bool
    ) -> None:
        """One failing guard among several prevents the write, and the message names its row."""
        backend.write(batch_of([(b"a", b"1"), (b"b", b"2")]))
        guards = [Guard(b"a", b"1"), Guard(b"x", None)]
        guards.insert(0 if first else 2, failing)
        for batch in (batch_of([(b"a", b"9"), (b"x", b"9")]), Batch()):
            with pytest.raises(GuardFailed, match=f"row b'{failing.key.decode()}'"):
                backend.write(batch, guard=guards)
        assert list(backend.scan()) == [(b"a", b"1"), (b"b", b"2")]

    def test_what_is_no_guard_is_refused(self, backend: Backend) -> None:
        """A guard of another type is refused; nothing is written, and the handle stays usable."""
        with pytest.raises(BackendError, match="Guard objects"):
            backend.write(batch_of([(b"a", b"1")]), guard=(b"a", None))  # type: ignore[arg-type]
        backend.write(batch_of([(b"b", b"1")]))
        assert list(backend.scan()) == [(b"b", b"1")]

    def test_who_is_exclusive_can_write_and_be_so_twice(self, backend: Backend) -> None:
        """Reading and writing work inside an exclusive block and inside a nested one."""
        with backend.exclusive():
            backend.write(batch_of([(b"a", b"1")]), guard=Guard(b"a", None))
            with backend.exclusive():
                backend.write(batch_of([(b"a", b"2")]), guard=Guard(b"a", b"1"))
            backend.write(batch_of([(b"b", b"3")]), durable=False)
            assert list(backend.scan()) == [(b"a", b"2"), (b"b", b"3")]
        backend.write(batch_of([(b"c", b"4")]))
        assert backend.get(b"c") == b"4"
