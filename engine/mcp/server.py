"""A profile on the SDK: schemas checked, tools run in threads, answers and errors in their two forms."""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial
from typing import Any, Final, TypeVar

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from engine.base.errors import EngineError, RefusedError
from engine.base.version import __version__
from engine.mcp.arguments import Checker
from engine.mcp.definition import Fields, Profile, Prompt, Resource, Tool
from engine.mcp.front import NAME
from engine.mcp.lease import Lease
from engine.query.explore.form import dumped

THREADS: Final = 8
"""So many calls run at once; more wait for their turn."""

NOT_FOUND: Final = -32002
"""The code of the protocol for a resource that is not there."""

log = logging.getLogger(__name__)

T = TypeVar("T")
Context = ServerRequestContext[Any, Any]
Paged = types.PaginatedRequestParams | None


def server_of(profile: Profile, lease: Lease, *, refused: tuple[Tool, ...] = ()) -> Server[Any]:
    """A server of this profile on the store that is leased.

    Args:
        profile: What it offers.
        lease: The store; opened when a call needs it.
        refused: Tools that it does not offer, and says so when they are called.
    """
    return _Handlers(profile, lease, refused).server()


class _Handlers:
    """The SDK's handlers of one profile. They keep nothing between requests."""

    def __init__(self, profile: Profile, lease: Lease, refused: tuple[Tool, ...]) -> None:
        self._profile = profile
        self._lease = lease
        self._tools = {tool.name: (tool, Checker(tool.input)) for tool in profile.tools}
        self._refused = {tool.name for tool in refused}
        self._limiter: anyio.CapacityLimiter | None = None

    def server(self) -> Server[Any]:
        profile = self._profile
        more: dict[str, Any] = {}
        if profile.resources:
            more |= {
                "on_list_resources": self._list_resources,
                "on_list_resource_templates": self._list_templates,
                "on_read_resource": self._read_resource,
            }
        if profile.prompts:
            more |= {"on_list_prompts": self._list_prompts, "on_get_prompt": self._get_prompt}
        return Server(
            NAME,
            version=__version__,
            instructions=profile.instructions,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            **more,
        )

    # Tools

    async def _list_tools(self, ctx: Context, params: Paged) -> types.ListToolsResult:
        del ctx, params
        return types.ListToolsResult(tools=[_shown_tool(tool) for tool in self._profile.tools])

    async def _call_tool(self, ctx: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        del ctx
        return await self._in_thread(partial(self._called, params.name, params.arguments or {}))

    def _called(self, name: str, arguments: Fields) -> types.CallToolResult:
        try:
            tool, checker = self._tool(name)
            given = checker.checked(arguments)
            with self._lease.memory() as engine:
                fields = tool.run(engine, given)
            return _result(fields, tool.text(fields))
        except MCPError:
            raise
        except EngineError as error:
            return _failure(error.code, str(error), error.hint)
        except Exception:
            log.exception("the tool %s failed unexpectedly", ascii(name)[:80])
            return _failure("unexpected", "the tool failed unexpectedly", "the server's log says more")

    def _tool(self, name: str) -> tuple[Tool, Checker]:
        if name in self._refused:
            raise RefusedError(
                f"{name} writes, and this server only reads", hint="start `engine mcp` without --read-only"
            )
        if name not in self._tools:
            raise MCPError(types.INVALID_PARAMS, f"there is no tool {ascii(name)[:80]}")
        return self._tools[name]

    # Resources

    async def _list_resources(self, ctx: Context, params: Paged) -> types.ListResourcesResult:
        del ctx, params
        found = [one for one in self._profile.resources if "{" not in one.uri]
        return types.ListResourcesResult(
            resources=[
                types.Resource(
                    uri=one.uri, name=one.name, description=one.description, mime_type=one.mime_type
                )
                for one in found
            ]
        )

    async def _list_templates(self, ctx: Context, params: Paged) -> types.ListResourceTemplatesResult:
        del ctx, params
        found = [one for one in self._profile.resources if "{" in one.uri]
        return types.ListResourceTemplatesResult(
            resource_templates=[
                types.ResourceTemplate(
                    uri_template=one.uri, name=one.name, description=one.description, mime_type=one.mime_type
                )
                for one in found
            ]
        )

    async def _read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        del ctx
        uri = str(params.uri)
        resource, given = self._resource(uri)
        text = await self._in_thread(partial(self._read, resource, given))
        return types.ReadResourceResult(
            contents=[types.TextResourceContents(uri=uri, mime_type=resource.mime_type, text=text)]
        )

    def _resource(self, uri: str) -> tuple[Resource, str]:
        for one in self._profile.resources:
            before, brace, rest = one.uri.partition("{")
            if not brace:
                if uri == one.uri:
                    return one, ""
                continue
            after = rest.partition("}")[2]
            given = uri[len(before) : len(uri) - len(after)]
            if uri == before + given + after and given:
                return one, given
        raise MCPError(NOT_FOUND, f"there is no resource {ascii(uri)[:200]}")

    def _read(self, resource: Resource, given: str) -> str:
        try:
            with self._lease.memory() as engine:
                return resource.read(engine, given)
        except EngineError as error:
            code = NOT_FOUND if error.code == "not_found" else types.INVALID_PARAMS
            raise MCPError(code, str(error), _error(error.code, str(error), error.hint)["error"]) from error
        except Exception:
            log.exception("the resource %s cannot be read", resource.name)
            raise MCPError(types.INTERNAL_ERROR, "the resource cannot be read") from None

    # Prompts

    async def _list_prompts(self, ctx: Context, params: Paged) -> types.ListPromptsResult:
        del ctx, params
        return types.ListPromptsResult(prompts=[_shown_prompt(prompt) for prompt in self._profile.prompts])

    async def _get_prompt(self, ctx: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        del ctx
        prompt = next((one for one in self._profile.prompts if one.name == params.name), None)
        if prompt is None:
            raise MCPError(types.INVALID_PARAMS, f"there is no prompt {ascii(params.name)[:80]}")
        given = params.arguments or {}
        missing = [name for name in prompt.arguments if name not in given]
        if missing:
            raise MCPError(types.INVALID_PARAMS, f"the prompt {prompt.name} needs {', '.join(missing)}")
        content = types.TextContent(type="text", text=prompt.render(given))
        return types.GetPromptResult(
            description=prompt.description, messages=[types.PromptMessage(role="user", content=content)]
        )

    async def _in_thread(self, call: Callable[[], T]) -> T:
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(THREADS)
        return await anyio.to_thread.run_sync(call, limiter=self._limiter)


def _shown_tool(tool: Tool) -> types.Tool:
    hints = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    if tool.writes:
        hints = types.ToolAnnotations(
            idempotent_hint=tool.idempotent, destructive_hint=tool.destructive, open_world_hint=False
        )
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=dict(tool.input),
        output_schema=dict(tool.output),
        annotations=hints,
    )


def _shown_prompt(prompt: Prompt) -> types.Prompt:
    return types.Prompt(
        name=prompt.name,
        description=prompt.description,
        arguments=[
            types.PromptArgument(name=name, description=what, required=True)
            for name, what in prompt.arguments.items()
        ],
    )


def _error(code: str, message: str, hint: str) -> dict[str, Fields]:
    return {"error": {"code": code, "message": message, "hint": hint}}


def _failure(code: str, message: str, hint: str) -> types.CallToolResult:
    fields = _error(code, message, hint)
    return _result(fields, dumped(fields), is_error=True)


def _result(fields: Fields, text: str, *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], structured_content=fields, is_error=is_error
    )
