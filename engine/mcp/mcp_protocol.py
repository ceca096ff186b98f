"""The Model Context Protocol: its versions, its errors, and the validation of messages and params.

Up to version 2025-11-25, a client starts with a handshake (`initialize`). The version that the client names
there does not affect later answers of this server. Since version 2026-07-28, there is no handshake: the field
`_meta` of each request names the version; this module calls the field the envelope. In both cases, the answer
depends only on the request, and the server keeps no state for a connection.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from engine.base import __version__
from engine.mcp.tool_definition import Fields

SERVER: Final = {"name": "memroot", "version": __version__}
"""The name and version of the server."""

HANDSHAKE_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ENVELOPE_VERSIONS: Final = ("2026-07-28",)

VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
CLIENT_KEY: Final = "io.modelcontextprotocol/clientInfo"
SERVER_KEY: Final = "io.modelcontextprotocol/serverInfo"

PARSE_ERROR: Final = -32700
INVALID_REQUEST: Final = -32600
METHOD_NOT_FOUND: Final = -32601
INVALID_PARAMS: Final = -32602
INTERNAL_ERROR: Final = -32603
TOO_MANY_REQUESTS: Final = -32000
RESOURCE_NOT_FOUND: Final = -32002
UNSUPPORTED_VERSION: Final = -32022

Params = Mapping[str, Any]

_NEEDED: Final[Mapping[str, Mapping[str, type]]] = {
    "initialize": {"protocolVersion": str, "capabilities": dict, "clientInfo": dict},
    "tools/call": {"name": str},
    "resources/read": {"uri": str},
    "prompts/get": {"name": str},
}
_OPTIONAL: Final[Mapping[str, type]] = {"cursor": str, "arguments": dict, "_meta": dict}


_LISTS: Final = {"tools/list", "resources/list", "resources/templates/list", "prompts/list"}
_CACHEABLE: Final = _LISTS | {"resources/read", "server/discover"}
"""The methods whose results state how long they may be cached."""


class ProtocolError(Exception):
    """A JSON-RPC error to send instead of a result."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data

    @property
    def fields(self) -> Fields:
        """Return the member `error` of the response."""
        shown = {"code": self.code, "message": self.message}
        return shown if self.data is None else {**shown, "data": self.data}


def request_id(message: object) -> int | str | None:
    """Return the id for the response to `message`, or None if `message` is not a request."""
    given = message.get("id") if isinstance(message, dict) else None
    return given if type(given) in {int, str} else None


def check_message(message: object) -> None:
    """Check that `message` is a JSON-RPC 2.0 request, notification or response.

    Raises:
        ProtocolError: `message` is something else, or contains a lone surrogate, which is not valid Unicode.
    """
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        is_request = False
    elif "method" in message:
        is_request = _is_text(message["method"]) and isinstance(message.get("params"), dict | None)
        is_request = is_request and (message.get("id") is None or request_id(message) is not None)
    else:
        is_request = "result" in message or "error" in message
    if not is_request or not _is_unicode(message):
        raise ProtocolError(INVALID_REQUEST, "not a JSON-RPC 2.0 message in valid Unicode")


def invalid_params() -> ProtocolError:
    """Return the error for invalid params."""
    return ProtocolError(INVALID_PARAMS, "Invalid request parameters", "")


def check_params(method: str, params: Params) -> None:
    """Check the types of all params that the server reads; other params are ignored.

    Raises:
        ProtocolError: a param is missing or has the wrong type.
    """
    for name, kind in _NEEDED.get(method, {}).items():
        if not isinstance(params.get(name), kind):
            raise invalid_params()
    for name, kind in _OPTIONAL.items():
        if not isinstance(params.get(name), kind | None):
            raise invalid_params()
    if method == "initialize":
        _check_client(params["clientInfo"])
    if method == "prompts/get" and not all(map(_is_text, (params.get("arguments") or {}).values())):
        raise invalid_params()


def has_envelope(params: Params) -> bool:
    """Return True if the request has an envelope, as in the protocol version that has no handshake."""
    meta = params.get("_meta")
    return isinstance(meta, dict) and VERSION_KEY in meta


def check_envelope(params: Params) -> None:
    """Check the envelope of a request.

    Raises:
        ProtocolError: the envelope is malformed, or names a version that is not supported.
    """
    meta = params["_meta"]
    version = meta[VERSION_KEY]
    if CAPABILITIES_KEY not in meta:
        raise ProtocolError(INVALID_PARAMS, f"params._meta also needs {CAPABILITIES_KEY}")
    if not isinstance(version, str):
        raise ProtocolError(INVALID_PARAMS, f"{VERSION_KEY} in params._meta is not a string")
    if version not in ENVELOPE_VERSIONS:
        data = {"supported": list(ENVELOPE_VERSIONS), "requested": version}
        raise ProtocolError(UNSUPPORTED_VERSION, "Unsupported protocol version", data)
    if not isinstance(meta[CAPABILITIES_KEY], dict):
        raise invalid_params()
    if meta.get(CLIENT_KEY) is not None:
        _check_client(meta[CLIENT_KEY])


def enveloped(method: str, result: Fields) -> Fields:
    """Return the result in the format of the version that has no handshake, marked as not cacheable."""
    cached = {"ttlMs": 0, "cacheScope": "private"} if method in _CACHEABLE else {}
    return {**result, **cached, "resultType": "complete", "_meta": {SERVER_KEY: SERVER}}


def _check_client(given: object) -> None:
    if not isinstance(given, dict) or not (_is_text(given.get("name")) and _is_text(given.get("version"))):
        raise invalid_params()


def _is_unicode(value: object) -> bool:
    try:
        json.dumps(value, ensure_ascii=False).encode()
    except (UnicodeEncodeError, RecursionError):
        return False
    return True


def _is_text(value: object) -> bool:
    return isinstance(value, str)
