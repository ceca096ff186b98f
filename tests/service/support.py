"""A service without sockets: the application, and tokens by name."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.testclient import TestClient

from engine.base.scopes import Scope
from engine.service.access import Access, Grant, GrantCache
from engine.service.app import application
from engine.service.served_memories import UNNAMED, Memories


@dataclass(frozen=True)
class KnownGrant(Grant):
    """A grant that lists its scopes: memory name → scope; `*` for all memories."""

    scopes: Mapping[str, Scope]

    def allows(self, scope: Scope, memory: str) -> bool:
        """Return True if the scope for the memory is large enough."""
        return self.scopes.get(memory, self.scopes.get("*", 0)) >= scope


class KnownTokens(GrantCache):
    """Tokens that are their own names."""

    def __init__(self, **scopes: Mapping[str, Scope]) -> None:
        super().__init__(lambda digest: None)
        self._grants = {name: KnownGrant(name, Scope.READ, (), found) for name, found in scopes.items()}

    def check(self, bearer: str) -> KnownGrant | None:
        """Return the grant of the token with this name."""
        return self._grants.get(bearer)

    def kept(self, bearer: str) -> KnownGrant | None:
        """Keep nothing, so that each request asks `check`."""

    def is_known(self, bearer: str) -> bool:
        """Return True for a token that is valid."""
        return bearer in self._grants


USUAL = {"reader": {"*": Scope.READ}, "writer": {"*": Scope.WRITE}, "admin": {"*": Scope.ADMIN}}


def client_of(
    url: str | Path,
    *,
    read_only: bool = False,
    as_: str = "admin",
    **scopes: Mapping[str, Scope],
) -> TestClient:
    """Return a client of a service on the memories at `url`."""
    memories = Memories(str(url), read_only=read_only)
    tokens = KnownTokens(**(scopes or USUAL))
    app = application(memories, Access(tokens, read_only=read_only))
    client = TestClient(app, raise_server_exceptions=False)
    client.headers["authorization"] = f"Bearer {as_}"
    return client


PATH = f"/v1/memories/{UNNAMED}"
