"""Handling of requests for tools, resources and prompts, independent of the transport."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Final, Protocol

from engine.base.characters import visible
from engine.base.errors import EngineError, RefusedError
from engine.base.json_text import dumped
from engine.mcp.answer_lines import error_lines
from engine.mcp.argument_check import checked
from engine.mcp.mcp_protocol import (
    ENVELOPE_VERSIONS,
    HANDSHAKE_VERSIONS,
    INTERNAL_ERROR,
    INVALID_PARAMS,
    METHOD_NOT_FOUND,
    RESOURCE_NOT_FOUND,
    SERVER,
    Params,
    ProtocolError,
    check_envelope,
    check_params,
    enveloped,
    has_envelope,
)
from engine.mcp.tool_definition import Fields, Profile, Prompt, Resource, Tool

if TYPE_CHECKING:
    from engine.engine import Engine

THREADS: Final = 8
"""The maximum number of requests that use the store at the same time; further requests wait."""

WAITING: Final = frozenset({"tools/call", "resources/read"})
"""The methods that use the store and may be slow. All other methods are answered immediately."""

BOUNDS: Final = frozenset(
    {"maxLength", "maxItems", "minimum", "maximum", "minProperties", "additionalProperties"}
)
"""Keywords of JSON Schema. For tools whose answers are text only, `tools/list` omits these keywords."""

MCP: Final = "mcp"
"""To whom receipts say that something was given: the server does not know the session."""

log = logging.getLogger(__name__)


class Opening(Protocol):
    """What a dispatcher uses to open the store: a `engine.memory.lease.Lease`, for instance."""

    def memory(self) -> AbstractContextManager[Engine]:
        """Return a context in which the store is open."""


class Dispatcher:
    """The request handler of one profile on one store.

    It keeps no state between requests and is thread-safe.
    """

    def __init__(
        self,
        profile: Profile,
        lease: Opening,
        refused: tuple[Tool, ...] = (),
        *,
        cause: str = "this server is read-only",
        remedy: str = "start `engine mcp` without --read-only",
        receipts: bool = False,
    ) -> None:
        """Offer `profile` on the store of `lease`; calls of the tools in `refused` are refused.

        The refusal states the cause and the remedy. With `receipts`, what a tool gives leaves a receipt.
        """
        self._receipts = receipts
        self._cause, self._remedy = cause, remedy
        self.profile = profile
        self._lease = lease
        self._tools = {tool.name: tool for tool in profile.tools}
        self._refused = {tool.name: tool for tool in refused}
        self._answers: dict[str, Callable[[Params], Fields]] = {
            "initialize": self._initialize,
            "ping": lambda params: {},
            "server/discover": self._discover,
            "tools/list": lambda params: {"tools": [_shown_tool(tool) for tool in profile.tools]},
            "tools/call": self._call_tool,
        }
        if profile.resources:
            self._answers |= {
                "resources/list": self._list_resources,
                "resources/templates/list": self._list_templates,
                "resources/read": self._read_resource,
            }
        if profile.prompts:
            self._answers |= {
                "prompts/list": lambda params: {"prompts": [_shown_prompt(one) for one in profile.prompts]},
                "prompts/get": self._get_prompt,
            }

    @property
    def methods(self) -> frozenset[str]:
        """The names of the methods that are answered. They include the methods of both protocol versions."""
        return frozenset(self._answers)

    def answer(self, method: str, params: Params) -> Fields:
        """Return the result of a request.

        Raises:
            ProtocolError: the request is refused; the error is to be sent as the response.
        """
        # A client that sends `initialize` may also name its preferred version in an envelope.
        modern = has_envelope(params) and method != "initialize"
        if modern:
            check_envelope(params)
        if method not in self._answers or method == ("ping" if modern else "server/discover"):
            raise ProtocolError(METHOD_NOT_FOUND, "Method not found", method)
        check_params(method, params)
        result = self._answers[method](params)
        return enveloped(method, result) if modern else result

    # Connections

    def _initialize(self, params: Params) -> Fields:
        asked = params["protocolVersion"]
        version = asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        return {"protocolVersion": version, "serverInfo": SERVER, **self._offered()}

    def _discover(self, params: Params) -> Fields:
        del params
        return {"supportedVersions": list(ENVELOPE_VERSIONS), **self._offered()}

    def _offered(self) -> Fields:
        capabilities: Fields = {"tools": {"listChanged": False}}
        if self.profile.resources:
            capabilities["resources"] = {"listChanged": False, "subscribe": False}
        if self.profile.prompts:
            capabilities["prompts"] = {"listChanged": False}
        return {"capabilities": capabilities, "instructions": self.profile.instructions}

    # Tools

    def _call_tool(self, params: Params) -> Fields:
        name = params["name"]
        tool = self._tools.get(name) or self._refused.get(name)
        if tool is None:
            raised = ProtocolError(INVALID_PARAMS, f"there is no tool {ascii(name)[:80]}")
            if self.profile.error_text is None:
                raise raised
            unknown = _error("unknown_tool", raised.message, "")
            return _text(self.profile.error_text(name, unknown), is_error=True)
        try:
            if tool.name in self._refused:
                raise RefusedError(f"{tool.name} writes, but {self._cause}", hint=self._remedy)
            given = checked(tool.input, params.get("arguments") or {})
            with self._lease.memory() as engine:
                result = _answered(tool, tool.run(engine, given))
                if self._receipts and not tool.writes:
                    from engine.capture.served import record

                    record(engine.store, MCP, "", result["content"][0]["text"])
                return result
        except EngineError as error:
            return self._failure(tool, _error(error.code, str(error), error.hint))
        except Exception:
            log.exception("the tool %s failed unexpectedly", tool.name)
            failed = _error("unexpected", "the tool failed unexpectedly", "see the log of the server")
            return self._failure(tool, failed)

    def _failure(self, tool: Tool, error: Fields) -> Fields:
        """Return the answer for a call that failed."""
        if self.profile.error_text is not None:
            return _text(self.profile.error_text(tool.name, error), is_error=True)
        if tool.output is None:
            return _text(error_lines(**error), is_error=True)
        fields = _visible({"error": error})
        return _result(fields, dumped(fields), is_error=True)

    # Resources

    def _list_resources(self, params: Params) -> Fields:
        del params
        return {"resources": [_shown(one, "uri") for one in self.profile.resources if "{" not in one.uri]}

    def _list_templates(self, params: Params) -> Fields:
        del params
        templates = [_shown(one, "uriTemplate") for one in self.profile.resources if "{" in one.uri]
        return {"resourceTemplates": templates}

    def _read_resource(self, params: Params) -> Fields:
        uri = params["uri"]
        resource, given = self._resource(uri)
        try:
            with self._lease.memory() as engine:
                text = resource.read(engine, given)
        except EngineError as error:
            code = RESOURCE_NOT_FOUND if error.code == "not_found" else INVALID_PARAMS
            raise ProtocolError(code, str(error), _error(error.code, str(error), error.hint)) from error
        except Exception:
            log.exception("the resource %s cannot be read", resource.name)
            raise ProtocolError(INTERNAL_ERROR, "the resource cannot be read") from None
        return {"contents": [{"uri": uri, "mimeType": resource.mime_type, "text": visible(text)}]}

    def _resource(self, uri: str) -> tuple[Resource, str]:
        """Return the resource with this URI and the value of its placeholder."""
        for one in self.profile.resources:
            before, brace, rest = one.uri.partition("{")
            after = rest.partition("}")[2]
            given = uri[len(before) : len(uri) - len(after)] if brace else ""
            if uri == before + given + after and bool(given) == bool(brace):
                return one, given
        raise ProtocolError(RESOURCE_NOT_FOUND, f"there is no resource {ascii(uri)[:200]}")

    # Prompts

    def _get_prompt(self, params: Params) -> Fields:
        name, given = params["name"], params.get("arguments") or {}
        prompt = next((one for one in self.profile.prompts if one.name == name), None)
        if prompt is None:
            raise ProtocolError(INVALID_PARAMS, f"there is no prompt {ascii(name)[:80]}")
        missing = [wanted for wanted in prompt.arguments if wanted not in given]
        if missing:
            raise ProtocolError(INVALID_PARAMS, f"the prompt {prompt.name} needs {', '.join(missing)}")
        content = {"type": "text", "text": visible(prompt.render(given))}
        return {"description": prompt.description, "messages": [{"role": "user", "content": content}]}


def _shown_tool(tool: Tool) -> Fields:
    hints: Fields = {"readOnlyHint": True}
    if tool.writes:
        hints = {"destructiveHint": tool.destructive, "idempotentHint": True}
    shown: Fields = {"name": tool.name, "description": tool.description}
    if tool.output is None:
        return {**shown, "inputSchema": without_bounds(tool.input), "annotations": hints}
    return {
        **shown,
        "inputSchema": tool.input,
        "outputSchema": tool.output,
        "annotations": {**hints, "openWorldHint": False},
    }


def without_bounds(schema: Mapping[str, object]) -> Fields:
    """Return a schema without bounds.

    The server still checks the bounds, and its errors state them. So a model need not read the bounds
    beforehand.
    """
    return {
        name: without_bounds(value) if isinstance(value, dict) else value
        for name, value in schema.items()
        if name not in BOUNDS
    }


def _shown(one: Resource, address: str) -> Fields:
    about = {"name": one.name, "description": one.description, "mimeType": one.mime_type}
    return {address: one.uri, **about}


def _shown_prompt(prompt: Prompt) -> Fields:
    arguments = [
        {"name": name, "description": what, "required": True} for name, what in prompt.arguments.items()
    ]
    return {"name": prompt.name, "description": prompt.description, "arguments": arguments}


def _error(code: str, message: str, hint: str) -> Fields:
    return {"code": code, "message": message, "hint": hint}


def _answered(tool: Tool, answer: Fields | str) -> Fields:
    """Return the result for what a tool returned."""
    if isinstance(answer, str):
        return _text(answer)
    # A client parses the structured content, so escapes of JSON would not reach the model.
    fields = _visible(answer)
    return _result(fields, tool.text(fields))


def _text(text: str, *, is_error: bool = False) -> Fields:
    return {"content": [{"type": "text", "text": visible(text)}], "isError": is_error}


def _result(fields: Mapping[str, object], text: str, *, is_error: bool = False) -> Fields:
    content = [{"type": "text", "text": visible(text)}]
    return {"content": content, "structuredContent": fields, "isError": is_error}


def _visible(value: Any) -> Any:
    """Return a JSON value in whose texts invisible characters are escaped."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {visible(name): _visible(one) for name, one in value.items()}
    if isinstance(value, (list, tuple)):
        return [_visible(one) for one in value]
    return value
