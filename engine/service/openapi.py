"""The description of the service as an OpenAPI 3.1 document, generated from the operations."""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from engine.base import __version__
from engine.base.scopes import Scope
from engine.clients.wire.json_calls import Operation
from engine.clients.wire.json_shapes import Plain, Schema, Schemas
from engine.clients.wire.operations import command_shape, operations, record_of
from engine.clients.wire.problem_details import MEDIA_TYPE, STATUS
from engine.service.operation_calls import LINES
from engine.store.request_keys import KEY_BYTES_MAX

_MEMORY: Final = {
    "name": "memory",
    "in": "path",
    "required": True,
    "description": "The name of the memory; `~` for the memory without a name.",
    "schema": {"type": "string", "pattern": "^(~|[a-z0-9_-][a-z0-9._-]{0,31})$"},
}

_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "A key that the client chooses, new for each request. If the request is repeated with the "
    "same token and key, it appends nothing, and its answer is that of the first time. The same key with "
    "another request is answered with the status 409.",
    "schema": {"type": "string", "minLength": 1, "maxLength": KEY_BYTES_MAX, "pattern": "^[!-~]+$"},
}

_NAMED: Final = _MEMORY | {
    "description": "The name of the memory.",
    "schema": {"type": "string", "pattern": "^[a-z0-9_-][a-z0-9._-]{0,31}$"},
}

_NAME: Final = {
    "type": "object",
    "properties": {"name": _NAMED["schema"]},
    "required": ["name"],
    "additionalProperties": False,
}


@cache
def document() -> dict[str, Any]:
    """Return the OpenAPI document."""
    schemas: Schemas = {"Problem": _problem()}
    paths = _fixed_paths(schemas)
    for operation in operations().values():
        paths[f"/v1/memories/{{memory}}/{operation.name}"] = _path(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "memroot",
            "version": __version__,
            "summary": "A verifiable memory: JSON over HTTP for the methods of Engine.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "security": [{"token": []}],
        "paths": paths,
        "components": {
            "schemas": dict(sorted(schemas.items())),
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
            "responses": {
                "Problem": {
                    "description": "The request failed; `code` tells why.",
                    "content": {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}},
                }
            },
        },
    }


def _problem() -> Schema:
    return {
        "type": "object",
        "description": "Problem details (RFC 9457), with the code and hint of the error.",
        "properties": {
            "type": {"type": "string"},
            "title": {"type": "string"},
            "status": {"type": "integer"},
            "code": {"type": "string", "enum": sorted(STATUS)},
            "detail": {"type": "string"},
            "hint": {"type": "string"},
        },
        "required": ["type", "title", "status", "code", "detail"],
    }


def _path(operation: Operation, schemas: Schemas) -> Schema:
    path: Schema = {"parameters": [_MEMORY]}
    post = _described(operation, schemas, operation.name)
    post["requestBody"] = {
        "required": any(parameter.required for parameter in operation.parameters),
        "content": {"application/json": {"schema": _body(operation, schemas)}},
    }
    if not operation.is_read:
        post["parameters"] = [_KEY]
    path["post"] = post
    if operation.is_read:
        get = _described(operation, schemas, f"{operation.name}_by_query")
        get["parameters"] = _query(operation, schemas)
        path["get"] = get
    return path


def _described(operation: Operation, schemas: Schemas, name: str) -> Schema:
    kind = LINES if operation.streams else "application/json"
    return {
        "operationId": name,
        "summary": operation.summary,
        "description": f"{operation.about}\n\nScope: {operation.scope.name.lower()}.".strip(),
        "tags": [operation.scope.name.lower()],
        "responses": _responses({kind: {"schema": operation.result.schema(schemas)}}),
    }


def _responses(content: Schema, status: str = "200") -> Schema:
    return {
        status: {"description": "The result.", **({"content": content} if content else {})},
        "default": {"$ref": "#/components/responses/Problem"},
    }


def _body(operation: Operation, schemas: Schemas) -> Schema:
    return {
        "type": "object",
        "properties": {
            parameter.name: parameter.shape.schema(schemas) | {"description": parameter.about}
            for parameter in operation.parameters
        },
        "required": [parameter.name for parameter in operation.parameters if parameter.required],
        "additionalProperties": False,
    }


def _query(operation: Operation, schemas: Schemas) -> list[Schema]:
    parameters = []
    for parameter in operation.parameters:
        schema = parameter.shape.schema(schemas)
        text = str(schema)
        is_simple = isinstance(parameter.shape, Plain) or not ("object" in text or "$ref" in text)
        parameters.append(
            {
                "name": parameter.name,
                "in": "query",
                "required": parameter.required,
                "description": parameter.about,
                **(
                    {"schema": schema} if is_simple else {"content": {"application/json": {"schema": schema}}}
                ),
            }
        )
    return parameters


def _fixed_paths(schemas: Schemas) -> dict[str, Schema]:
    """Return the addresses that are not operations."""
    from engine.base.model import Receipt
    from engine.service.served_memories import Described

    described = record_of(Described).schema(schemas)
    receipt = record_of(Receipt).schema(schemas)
    names = {"type": "array", "items": {"type": "string"}}
    scopes = {"type": "object", "additionalProperties": {"enum": [scope.name.lower() for scope in Scope]}}
    parts = {"memories": names, "scopes": scopes}
    listed = {"type": "object", "properties": parts, "required": list(parts)}
    start = {"name": "start", "in": "query", "schema": {"type": "integer", "minimum": 0}}
    return {
        "/v1/memories": {
            "get": _fixed("list_memories", Scope.READ, "List the memories.", _json(listed)),
            "post": _fixed("create_memory", Scope.ADMIN, "Create a memory.", _json(_NAME), "201")
            | {"requestBody": {"required": True, "content": _json(_NAME)}},
        },
        "/v1/memories/{memory}": {
            "parameters": [_MEMORY],
            "get": _fixed("describe_memory", Scope.READ, "Describe a memory.", _json(described)),
            "patch": _fixed("rename_memory", Scope.ADMIN, "Rename a memory.", _json(_NAME))
            | {"parameters": [_NAMED], "requestBody": {"required": True, "content": _json(_NAME)}},
            "delete": _fixed("delete_memory", Scope.ADMIN, "Delete a memory.", {}, "204")
            | {"parameters": [_NAMED]},
        },
        "/v1/memories/{memory}/events": {
            "parameters": [_MEMORY],
            "get": _fixed(
                "follow", Scope.READ, "Follow the journal: server-sent events.",
                {"text/event-stream": {"schema": {"type": "string"}}},
            ) | {"parameters": [start]},
        },
        "/v1/memories/{memory}/export": {
            "parameters": [_MEMORY],
            "get": _fixed(
                "export", Scope.READ, "Export the whole journal, one event on each line.",
                {LINES: {"schema": {"type": "object"}}},
            ),
        },
        "/v1/memories/{memory}/bulk": {
            "parameters": [_MEMORY],
            "post": _fixed(
                "bulk", Scope.WRITE, "Carry out commands, one on each line.", {LINES: {"schema": receipt}}
            )
            | {
                "parameters": [_KEY],
                "requestBody": {
                    "content": {LINES: {"schema": command_shape().schema(schemas)}},
                },
            },
        },
    }  # fmt: skip


def _json(schema: Schema) -> Schema:
    return {"application/json": {"schema": schema}}


def _fixed(name: str, scope: Scope, summary: str, content: Schema, status: str = "200") -> Schema:
    return {
        "operationId": name,
        "summary": summary,
        "description": f"Scope: {scope.name.lower()}.",
        "tags": [scope.name.lower()],
        "responses": _responses(content, status),
    }
