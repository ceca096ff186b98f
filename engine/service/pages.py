"""The pages for browsers: the window into the memories at `/`, and at `/verify` the page that checks a proof.

Pages need no token. They are the same for everybody, and request the contents of a memory with a token.
"""

from __future__ import annotations

import gzip
from functools import cache
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from engine.window.page import whole_page

_FILES: Final = {"/": "index.html", "/verify": "verify.html"}
PATHS: Final = tuple(_FILES)
HEADERS: Final = {
    "cache-control": "no-cache",
    # The page has a policy of its own; a policy in a page cannot say who may frame it.
    "content-security-policy": "frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "vary": "accept-encoding",
    "x-content-type-options": "nosniff",
}


async def page(request: Request) -> Response:
    """Answer with the page at the path of a request."""
    text = _compressed(request.url.path)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(text, 200, HEADERS | {"content-encoding": "gzip"}, "text/html")
    return Response(gzip.decompress(text), 200, HEADERS, "text/html")


def prepare() -> None:
    """Assemble the window, so that its first visitor does not wait for that."""
    _compressed("/")


@cache
def _compressed(path: str) -> bytes:
    return gzip.compress(whole_page(_FILES[path]).encode(), mtime=0)
