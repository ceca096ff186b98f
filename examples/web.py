"""A web service with a memory, made with FastAPI.

The event loop never waits for the memory: `AsyncEngine` works in threads. Run

    pip install fastapi uvicorn
    uvicorn examples.web:app

and open http://127.0.0.1:8000/docs. The environment variable NOTES is the location of the memory; the default
is the file notes.db. The service has no passwords, so let only your own machine reach it.
"""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, FastAPI, HTTPException, Query, Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel

from engine import AsyncEngine, EngineError, InvalidInputError, NotFoundError, State


@asynccontextmanager
async def lifespan(app: FastAPI) -> AsyncIterator[None]:
    """Open the memory when the service starts. When it stops, wait for the calls that run, and close."""
    async with AsyncEngine.open(os.environ.get("NOTES", "sqlite:notes.db"), actor="web") as memory:
        app.state.memory = memory
        yield


app = FastAPI(title="Notes", lifespan=lifespan)


def opened(request: Request) -> AsyncEngine:
    """Return the memory of the service."""
    memory: AsyncEngine = request.app.state.memory
    return memory


Memory = Annotated[AsyncEngine, Depends(opened)]


class Note(BaseModel):
    """A text to remember."""

    text: str
    tags: list[str] = []


@app.exception_handler(EngineError)
async def failed(request: Request, error: EngineError) -> JSONResponse:
    """Answer an error of the memory with its code and its hint."""
    status = {NotFoundError: 404, InvalidInputError: 422}.get(type(error), 500)
    return JSONResponse({"code": error.code, "detail": str(error), "hint": error.hint}, status)


@app.post("/notes", status_code=201)
async def remember(note: Note, memory: Memory) -> dict[str, str | bool]:
    """Store a text unless the memory holds it already."""
    receipt = await memory.add(note.text, tags=note.tags, once=True)
    return {"id": receipt.id, "new": receipt.changed}


@app.get("/notes")
async def recall(memory: Memory, q: Annotated[str, Query(min_length=1)], limit: int = 5) -> list[str]:
    """Return the texts that answer a question best."""
    return [hit.snippet for hit in (await memory.recall(q, limit=limit)).hits]


@app.get("/notes/{note}")
async def read(note: str, memory: Memory) -> Note:
    """Return one text."""
    atom = await memory.get(note)
    if atom.state is State.ERASED:
        raise HTTPException(410, "this note was erased")
    return Note(text=atom.content, tags=list(atom.tags))
