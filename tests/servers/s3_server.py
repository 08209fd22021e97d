"""A loopback server that speaks enough of S3 for objects to be put, looked at and fetched, and checks signatures (V4).

    with S3Server("files", key_id="AKIA1", secret="s3cret") as server:
        Bucket("files", endpoint=server.url, key_id="AKIA1", secret="s3cret")

What lies in the bucket stands in `server.objects`; a test may change it. `server.down` makes it answer 503.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from .loopback import Loopback

_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/(?P<scope>(?P<day>\d{8})/(?P<region>[^/]+)/s3/aws4_request), "
    r"SignedHeaders=(?P<headers>[^,]+), Signature=(?P<signature>[0-9a-f]{64})"
)


class S3Server(Loopback):
    """One bucket on 127.0.0.1."""

    def __init__(self, bucket: str, *, key_id: str, secret: str) -> None:
        self.objects: dict[str, bytes] = {}
        self.puts = 0
        self.down = False
        self._bucket, self._key_id, self._secret = bucket, key_id, secret
        route = Route("/{bucket}/{key:path}", self._answer, methods=["GET", "HEAD", "PUT"])
        super().__init__(Starlette(routes=[route]))

    async def _answer(self, request: Request) -> Response:
        body = await request.body()
        if self.down:
            return _error(503, "SlowDown", "Please reduce your request rate.")
        refused = self._refused(request, body)
        if refused is not None:
            return refused
        if request.path_params["bucket"] != self._bucket:
            return _error(404, "NoSuchBucket", "The specified bucket does not exist")
        key = request.path_params["key"]
        if request.method == "PUT":
            self.puts += 1
            self.objects[key] = body
            return Response(headers={"ETag": _tag(body)})
        if key not in self.objects:
            return _error(404, "NoSuchKey", "The specified key does not exist.")
        headers = {"ETag": _tag(self.objects[key]), "Last-Modified": "Mon, 16 Nov 2026 10:00:00 GMT"}
        return Response(self.objects[key], headers=headers, media_type="application/octet-stream")

    def _refused(self, request: Request, body: bytes) -> Response | None:
        given = _AUTHORIZATION.fullmatch(request.headers.get("authorization", ""))
        if given is None:
            return _error(403, "AccessDenied", "Access Denied")
        if given["key"] != self._key_id:
            return _error(
                403, "InvalidAccessKeyId", "The AWS Access Key Id you provided does not exist in our records."
            )
        told = request.headers.get("x-amz-content-sha256", "")
        if told != "UNSIGNED-PAYLOAD" and told != hashlib.sha256(body).hexdigest():
            return _error(
                400, "XAmzContentSHA256Mismatch", "The provided 'x-amz-content-sha256' header does not match."
            )
        if not hmac.compare_digest(self._signature(request, given, told), given["signature"]):
            return _error(403, "SignatureDoesNotMatch", "The request signature we calculated does not match.")
        return None

    def _signature(self, request: Request, given: re.Match[str], payload: str) -> str:
        names = given["headers"].split(";")
        headers = "".join(f"{name}:{' '.join(request.headers.get(name, '').split())}\n" for name in names)
        path = quote(request.scope["path"], safe="/~")
        query = "&".join(sorted(f"{quote(k, safe='~')}={quote(v, safe='~')}" for k, v in request.query_params.items()))
        canonical = "\n".join([request.method, path, query, headers, given["headers"], payload])
        moment = request.headers.get("x-amz-date", "")
        digest = hashlib.sha256(canonical.encode()).hexdigest()
        text = "\n".join(["AWS4-HMAC-SHA256", moment, given["scope"], digest])
        key = f"AWS4{self._secret}".encode()
        for part in (given["day"], given["region"], "s3", "aws4_request"):
            key = hmac.new(key, part.encode(), hashlib.sha256).digest()
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


def _tag(body: bytes) -> str:
    return f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'


def _error(status: int, code: str, message: str) -> Response:
    xml = f'<?xml version="1.0" encoding="UTF-8"?><Error><Code>{code}</Code><Message>{message}</Message></Error>'
    return Response(xml, status, media_type="application/xml")
