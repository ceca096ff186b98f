"""What a client is told first, known without the SDK, which takes most of a second to import.

Every word of it is what the SDK answers; where that cannot be foreseen, the front says nothing and the
client hears the SDK. Standard library and light modules of ours only.
"""

from __future__ import annotations

from typing import Any, Final

from engine.base.version import __version__
from engine.mcp.definition import Profile

NAME: Final = "memroot"

HANDSHAKE_VERSIONS: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSIONS: Final = ("2026-07-28",)

VERSION_KEY: Final = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY: Final = "io.modelcontextprotocol/clientCapabilities"
CLIENT_KEY: Final = "io.modelcontextprotocol/clientInfo"
SERVER_KEY: Final = "io.modelcontextprotocol/serverInfo"

Message = dict[str, Any]


def first_answer(profile: Profile, message: object) -> Message | None:
    """The answer to the first message of a client, if it is one that is known here; else None."""
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
        return None
    if set(message) != {"jsonrpc", "id", "method", "params"} or type(message["id"]) not in {int, str}:
        return None
    params = message["params"]
    if not isinstance(params, dict):
        return None
    result = None
    if message["method"] == "initialize":
        result = _initialized(profile, params)
    elif message["method"] == "server/discover":
        result = _discovered(profile, params)
    return result and {"jsonrpc": "2.0", "id": message["id"], **result}


def identity() -> Message:
    """Who the server is."""
    return {"name": NAME, "version": __version__}


def _initialized(profile: Profile, params: Message) -> Message | None:
    """To a handshake: the version asked for if there is one like it, else the newest."""
    version, capabilities = params.get("protocolVersion"), params.get("capabilities")
    if not set(params) <= {"protocolVersion", "capabilities", "clientInfo", "_meta"}:
        return None
    if not isinstance(version, str) or not _is_client(params.get("clientInfo")):
        return None
    if not _are_capabilities(capabilities) or not _is_meta(params.get("_meta", {})):
        return None
    return {
        "result": {
            "capabilities": _offered(profile),
            "instructions": profile.instructions,
            "protocolVersion": version if version in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
            "serverInfo": identity(),
        }
    }


def _discovered(profile: Profile, params: Message) -> Message | None:
    """To a question without a handshake: what there is, or which versions there are."""
    meta = params.get("_meta")
    if set(params) != {"_meta"} or not isinstance(meta, dict) or not _is_meta(meta):
        return None
    version = meta.get(VERSION_KEY)
    if not isinstance(version, str) or CAPABILITIES_KEY not in meta:
        return None
    if version not in MODERN_VERSIONS:
        data = {"supported": list(MODERN_VERSIONS), "requested": version}
        return {"error": {"code": -32022, "message": "Unsupported protocol version", "data": data}}
    if not _are_capabilities(meta[CAPABILITIES_KEY]):
        return None
    if CLIENT_KEY in meta and not _is_client(meta[CLIENT_KEY]):
        return None
    return {
        "result": {
            "cacheScope": "private",
            "capabilities": _offered(profile),
            "instructions": profile.instructions,
            "resultType": "complete",
            "supportedVersions": list(MODERN_VERSIONS),
            "ttlMs": 0,
            "_meta": {SERVER_KEY: identity()},
        }
    }


def _offered(profile: Profile) -> Message:
    offered: Message = {}
    if profile.prompts:
        offered["prompts"] = {"listChanged": False}
    if profile.resources:
        offered["resources"] = {"listChanged": False, "subscribe": False}
    offered["tools"] = {"listChanged": False}
    return offered


def _is_client(given: object) -> bool:
    """Whether it surely describes a client: texts alone, the two that there must be among them."""
    return (
        isinstance(given, dict)
        and {"name", "version"} <= set(given) <= {"name", "version", "title", "description"}
        and all(isinstance(value, str) for value in given.values())
    )


def _are_capabilities(given: object) -> bool:
    """Whether they surely are the capabilities of a client: empty but for what clients do send."""
    if not isinstance(given, dict):
        return False
    return all(_is_capability(name, value) for name, value in given.items())


def _is_capability(name: str, given: object) -> bool:
    if not isinstance(given, dict):
        return False
    if name == "roots":
        return not given or (set(given) == {"listChanged"} and type(given["listChanged"]) is bool)
    if name in {"experimental", "extensions"}:
        return all(isinstance(value, dict) for value in given.values())
    return _is_hollow(given)


def _is_hollow(given: object) -> bool:
    return isinstance(given, dict) and all(map(_is_hollow, given.values()))


def _is_meta(given: object) -> bool:
    known = {VERSION_KEY, CAPABILITIES_KEY, CLIENT_KEY}
    return isinstance(given, dict) and set(given) <= known
