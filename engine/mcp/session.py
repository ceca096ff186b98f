"""What a client over a pipe and the server have agreed on: the era of the protocol, and that it has begun."""

from __future__ import annotations

from engine.mcp.definition import Fields, Profile
from engine.mcp.protocol import (
    CAPABILITIES_KEY,
    CLIENT_KEY,
    ENVELOPE_VERSIONS,
    HANDSHAKE_VERSIONS,
    INVALID_PARAMS,
    INVALID_REQUEST,
    SERVER,
    UNSUPPORTED_VERSION,
    VERSION_KEY,
    Params,
    ProtocolError,
    check_client,
    check_params,
    enveloped,
    invalid_params,
    not_found,
)


class Session:
    """The state of a connection. Its first request decides the era, once.

    `begin` is called in the order in which requests come; `finish` by any thread.
    """

    def __init__(self, profile: Profile, methods: frozenset[str]) -> None:
        """Nothing is agreed on yet.

        Args:
            profile: What the server offers.
            methods: Those that are answered elsewhere.
        """
        self._profile = profile
        self._methods = methods
        self._enveloped: bool | None = None
        self._open = False

    def notified(self, method: str) -> None:
        """Take note of a notification."""
        if method == "notifications/initialized":
            self._open = True

    def begin(self, method: str, params: Params) -> Fields | None:
        """Check a request; the result, if it is one about the connection itself.

        Raises:
            ProtocolError: it is refused.
        """
        meta = params.get("_meta")
        has_envelope = isinstance(meta, dict) and VERSION_KEY in meta
        if self._enveloped is None:
            self._enveloped = has_envelope and method != "initialize"
        if self._enveloped:
            return self._begin_enveloped(method, params)
        if method == "initialize":
            return self._initialize(params)
        if has_envelope:
            raise ProtocolError(
                INVALID_REQUEST,
                "this connection began with a handshake; "
                "requests carrying the 2026-07-28 envelope are not accepted on it",
            )
        if method == "ping":
            return {}
        if method not in self._methods:
            raise not_found(method)
        if not self._open:
            raise invalid_params()
        return None

    def finish(self, method: str, result: Fields) -> Fields:
        """A result in the form of the era."""
        return enveloped(method, result) if self._enveloped else result

    def _initialize(self, params: Params) -> Fields:
        check_params("initialize", params)
        check_client(params["clientInfo"])
        self._open = True
        asked = params["protocolVersion"]
        return {
            "protocolVersion": asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1],
            "capabilities": self._capabilities(),
            "serverInfo": SERVER,
            "instructions": self._profile.instructions,
        }

    def _begin_enveloped(self, method: str, params: Params) -> Fields | None:
        if method == "initialize":
            raise _unsupported(
                params.get("protocolVersion"),
                "this connection began without a handshake; initialize is not accepted on it",
            )
        _check_envelope(params.get("_meta"))
        if method == "server/discover":
            return {
                "supportedVersions": list(ENVELOPE_VERSIONS),
                "capabilities": self._capabilities(),
                "instructions": self._profile.instructions,
            }
        if method not in self._methods:
            raise not_found(method)
        return None

    def _capabilities(self) -> Fields:
        offered: Fields = {"tools": {"listChanged": False}}
        if self._profile.resources:
            offered["resources"] = {"listChanged": False, "subscribe": False}
        if self._profile.prompts:
            offered["prompts"] = {"listChanged": False}
        return offered


def _check_envelope(meta: object) -> None:
    """Refuse a request that does not say which protocol it speaks, or another one.

    Raises:
        ProtocolError: the version is not served, or something is missing or of the wrong type.
    """
    given = meta if isinstance(meta, dict) else {}
    missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in given]
    if missing:
        raise ProtocolError(INVALID_PARAMS, f"params._meta must be an object with {', '.join(missing)}")
    version = given[VERSION_KEY]
    if not isinstance(version, str):
        raise ProtocolError(INVALID_PARAMS, f"params._meta: {VERSION_KEY} must be a string")
    if version not in ENVELOPE_VERSIONS:
        raise _unsupported(version, "Unsupported protocol version")
    if not isinstance(given[CAPABILITIES_KEY], dict):
        raise invalid_params()
    if given.get(CLIENT_KEY) is not None:
        check_client(given[CLIENT_KEY])


def _unsupported(requested: object, message: str) -> ProtocolError:
    asked = {"requested": requested} if isinstance(requested, str) else {}
    return ProtocolError(UNSUPPORTED_VERSION, message, {"supported": list(ENVELOPE_VERSIONS), **asked})
