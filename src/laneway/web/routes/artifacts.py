"""Originals of attachments and stored results, by their hash."""

from __future__ import annotations

import mimetypes
import re
from typing import Annotated

from fastapi import APIRouter, Path, Response

from laneway.store.artifacts import SCHEME
from laneway.web.gateway import Here

router = APIRouter(tags=["artifacts"])

_MIME = re.compile(r"[a-z]+/[a-z0-9][a-z0-9.+-]{0,100}(?:; charset=utf-8)?")
_SHOWN = re.compile(r"(?:image/(?:png|jpeg|gif|webp)|audio/.*|video/.*|text/(?:plain|csv).*|application/(?:pdf|json))")
"""Types that no browser runs as a page; all others are given out as plain bytes."""


@router.get(
    "/artifacts/{sha256}",
    summary="The bytes of an artifact",
    response_class=Response,
    responses={200: {"content": {"application/octet-stream": {}}, "description": "The original, to be saved."}},
)
async def original(
    here: Here,
    sha256: Annotated[str, Path(pattern="^[0-9a-f]{64}$", description="What stands behind `artifact://sha256/`.")],
) -> Response:
    """A file somebody sent is not to be trusted: it is given out to be saved, never to be shown as a page."""
    found = await here.app.artifacts.read(SCHEME + sha256)
    safe = _MIME.fullmatch(found.mime) and _SHOWN.fullmatch(found.mime)
    mime = found.mime if safe else "application/octet-stream"
    ending = mimetypes.guess_extension(mime.partition(";")[0]) or ".bin"
    headers = {
        "Content-Disposition": f'attachment; filename="{sha256[:16]}{ending}"',
        "X-Content-Type-Options": "nosniff",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "Cache-Control": "private, max-age=31536000, immutable",
        "ETag": f'"{sha256}"',
    }
    return Response(found.content, media_type=mime, headers=headers)
