"""The list of memories: `/v1/memories`, and making, renaming and deleting one."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from engine.base.errors import InvalidInputError
from engine.base.scope import Scope
from engine.remote.wire.encoding import encode
from engine.service.answers import HEADERS, answer
from engine.service.calls import Calls, object_of


@dataclass
class Naming:
    """The endpoints that list and change memories as a whole."""

    calls: Calls

    async def listed(self, request: Request) -> Response:
        """Answer `GET /v1/memories` with the names of the memories that the token may read."""
        grant = await self.calls.grant_of(request)
        names = await self.calls.run(self.calls.memories.names)
        return answer({"memories": [name for name in names if grant.allows(Scope.READ, name)]})

    async def create(self, request: Request) -> Response:
        """Answer `POST /v1/memories`."""
        grant = await self.calls.grant_of(request)
        name = _name(await object_of(request))
        self.calls.access.require(grant, Scope.ADMIN, name)
        await self.calls.run(partial(self.calls.memories.create, name, grant.name))
        return answer({"name": name}, 201)

    async def described(self, request: Request) -> Response:
        """Answer `GET /v1/memories/{memory}` with counts and the root."""
        memory, _ = await self.calls.granted(request, Scope.READ)
        return answer(encode(await self.calls.run(partial(self.calls.memories.described, memory))))

    async def rename(self, request: Request) -> Response:
        """Answer `PATCH /v1/memories/{memory}`. The token must permit both names."""
        memory, grant = await self.calls.granted(request, Scope.ADMIN)
        new = _name(await object_of(request))
        self.calls.access.require(grant, Scope.ADMIN, new)
        await self.calls.run(partial(self.calls.memories.rename, memory, new))
        return answer({"name": new})

    async def delete(self, request: Request) -> Response:
        """Answer `DELETE /v1/memories/{memory}`."""
        memory, _ = await self.calls.granted(request, Scope.ADMIN)
        await self.calls.run(partial(self.calls.memories.delete, memory))
        return Response(None, 204, HEADERS)


def _name(body: dict[str, Any]) -> str:
    name = body.get("name")
    if not isinstance(name, str) or len(body) != 1:
        raise InvalidInputError("the body must be an object with the field name, which is a text")
    return name
