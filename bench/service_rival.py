"""The rival of the service: a small web program over PostgreSQL, as an engineer could write it in a day.

Question: what does `engine serve` cost more than the usual program of a team that has PostgreSQL?
Data, seed: the same texts and questions as for memroot. How: Starlette on uvicorn, the same versions as in
memroot, with asynchronous connections of psycopg in a pool of eight and prepared statements. `add` inserts
one text in one transaction, with the server's `fsync`. `recall` ranks the texts that have a word of the
question by `ts_rank_cd`, or, for `vectors`, takes the nearest vectors of pgvector (HNSW, cosine). The vectors
are hashed words, which costs far less than a model, so the figures of `vectors` are better than real ones.
A request needs the right token. The program has no journal, history, roots, proofs, scopes or limits.
"""

from __future__ import annotations

import asyncio
import hmac
import math
import re
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from hashlib import sha256
from typing import Any, Final
from zlib import crc32

import psycopg
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

CONNECTIONS: Final = 8
DIMENSIONS: Final = 384
WAYS: Final = ("words", "vectors")
_WORD: Final = re.compile(r"\w+")

_COLUMNS: Final = (
    "id bigserial PRIMARY KEY, content text NOT NULL, source text, tags text[], "
    "made timestamptz DEFAULT now()"
)
_SEARCH: Final = "search tsvector GENERATED ALWAYS AS (to_tsvector('english', content)) STORED"
_TABLES: Final = {
    "words": (
        f"CREATE TABLE words_texts ({_COLUMNS}, {_SEARCH})",
        "CREATE INDEX ON words_texts USING gin (search)",
    ),
    "vectors": (
        "CREATE EXTENSION vector",
        f"CREATE TABLE vectors_texts ({_COLUMNS}, vector vector({DIMENSIONS}))",
        "CREATE INDEX ON vectors_texts USING hnsw (vector vector_cosine_ops)",
    ),
}
_INSERT: Final = {
    "words": "INSERT INTO words_texts (content, source, tags) VALUES (%s, %s, %s) RETURNING id",
    "vectors": "INSERT INTO vectors_texts (content, source, tags, vector) VALUES (%s, %s, %s, %s) "
    "RETURNING id",
}
_SELECT: Final = {
    "words": "SELECT id, content, source, tags, made::text, ts_rank_cd(search, query) AS rank "
    "FROM words_texts, to_tsquery('english', %s) query WHERE search @@ query ORDER BY rank DESC LIMIT %s",
    "vectors": "SELECT id, content, source, tags, made::text, 0 FROM vectors_texts "
    "ORDER BY vector <=> %s::vector LIMIT %s",
}


def vector(text: str) -> str:
    """Return a vector of the words of a text, as pgvector reads it."""
    found = [0.0] * DIMENSIONS
    for word, count in Counter(_WORD.findall(text.lower())).items():
        number = crc32(word.encode())
        found[number % DIMENSIONS] += count if number & 0x10000 else -count
    length = math.sqrt(sum(value * value for value in found)) or 1.0
    return "[" + ",".join(f"{value / length:.4g}" for value in found) + "]"


def _row(way: str, text: dict[str, Any]) -> tuple[Any, ...]:
    values = text["content"], text["source"], text["tags"]
    return values if way == "words" else (*values, vector(text["content"]))


def fill(url: str, way: str, texts: list[dict[str, Any]]) -> None:
    """Make the table with texts."""
    with psycopg.connect(url) as connection:
        *tables, index = _TABLES[way]
        for statement in tables:
            connection.execute(statement)
        with connection.cursor() as cursor:
            cursor.executemany(_INSERT[way], [_row(way, text) for text in texts])
        connection.execute(index)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"VACUUM ANALYZE {way}_texts")


class Rival:
    """The web program."""

    def __init__(self, url: str, way: str, token: str) -> None:
        """Serve one table to those who have the token."""
        self._url = url
        self._way = way
        self._hash = sha256(token.encode()).digest()
        self._free: asyncio.Queue[psycopg.AsyncConnection[Any]] = asyncio.Queue()

    @asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        """Keep the connections open while the program runs."""
        del app
        made = []
        for _ in range(CONNECTIONS):
            connection = await psycopg.AsyncConnection.connect(
                self._url, autocommit=True, prepare_threshold=0
            )
            made.append(connection)
            self._free.put_nowait(connection)
        yield
        for connection in made:
            await connection.close()

    async def _rows(self, statement: str, values: tuple[Any, ...]) -> list[Any]:
        connection = await self._free.get()
        try:
            return await (await connection.execute(statement, values)).fetchall()
        finally:
            self._free.put_nowait(connection)

    def guarded(self, answer: Callable[[Any], Awaitable[Any]]) -> Callable[[Request], Awaitable[Response]]:
        """Return an endpoint that answers JSON to those who have the token."""

        async def endpoint(request: Request) -> Response:
            bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
            if not hmac.compare_digest(sha256(bearer.encode()).digest(), self._hash):
                return JSONResponse({"code": "unauthorized"}, 401)
            return JSONResponse(await answer(await request.json()))

        return endpoint

    async def add(self, given: Any) -> Any:
        """Add one text."""
        ((number,),) = await self._rows(_INSERT[self._way], _row(self._way, given))
        return {"id": number}

    async def recall(self, given: Any) -> Any:
        """Return the best texts."""
        question = given["query"]
        wanted = " | ".join(_WORD.findall(question)) if self._way == "words" else vector(question)
        names = ("id", "content", "source", "tags", "created", "score")
        rows = await self._rows(_SELECT[self._way], (wanted, given["limit"]))
        return {"hits": [dict(zip(names, row, strict=True)) for row in rows]}

    def app(self) -> Starlette:
        """Return the program."""
        return Starlette(
            routes=[
                Route(f"/{name}", self.guarded(call), methods=["POST"])
                for name, call in (("add", self.add), ("recall", self.recall))
            ],
            lifespan=self.lifespan,
        )


def main() -> None:
    """Serve until a signal: the arguments are URL, way, token and port."""
    url, way, token, port = sys.argv[1:]
    app = Rival(url, way, token).app()
    uvicorn.run(app, host="127.0.0.1", port=int(port), http="h11", loop="asyncio", log_level="warning")


if __name__ == "__main__":
    main()
