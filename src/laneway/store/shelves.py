"""Where large originals lie: a folder of the data directory, or a bucket that speaks S3."""

from __future__ import annotations

import asyncio
import hashlib
import os
import tempfile
from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from laneway.errors import SettingsError

if TYPE_CHECKING:
    from obstore.store import S3Store

PATIENCE = timedelta(seconds=30)


class Place(StrEnum):
    """Where the bytes of an artifact are."""

    ROW = "row"
    FOLDER = "folder"
    BUCKET = "bucket"


class ShelfFault(Exception):
    """The shelf could not take or give something; the message says why."""


class Missing(ShelfFault):
    """The shelf works, and has nothing under this name."""


class Shelf(Protocol):
    """Keeps bytes under the hash they have."""

    @property
    def place(self) -> Place: ...

    async def put(self, digest: str, content: bytes) -> None:
        """The content is there to stay; it is written once, however often it is put."""
        ...

    async def get(self, digest: str) -> bytes:
        """What lies there, unchecked."""
        ...


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder on this machine's disk; its files are readable by their owner only."""

    root: Path
    place: Place = Place.FOLDER

    async def put(self, digest: str, content: bytes) -> None:
        try:
            await asyncio.to_thread(self._write, digest, content)
        except OSError as error:
            raise ShelfFault(f"{self.root}: {error.strerror}") from error

    async def get(self, digest: str) -> bytes:
        try:
            return await asyncio.to_thread(self._path(digest).read_bytes)
        except FileNotFoundError as error:
            raise Missing(f"{self._path(digest)} is gone") from error
        except OSError as error:
            raise ShelfFault(f"{self._path(digest)}: {error.strerror}") from error

    def file(self, digest: str) -> Path:
        """The file that has it, for a process of ours that reads it itself, and checks it."""
        return self._path(digest)

    def _path(self, digest: str) -> Path:
        return self.root / digest[:2] / digest[2:]

    def _write(self, digest: str, content: bytes) -> None:
        path = self._path(digest)
        if _holds(path, digest):
            return
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        # mkstemp makes it with mode 0600. Renamed when all of it is on the disk, so nobody ever finds half a file.
        descriptor, unfinished = tempfile.mkstemp(dir=path.parent, prefix=".")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            Path(unfinished).replace(path)
        except OSError:
            Path(unfinished).unlink(missing_ok=True)
            raise


def _holds(path: Path, digest: str) -> bool:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest() == digest
    except OSError:
        return False


@dataclass(frozen=True)
class Bucket:
    """A bucket of S3, R2, or anything that speaks their language."""

    name: str
    prefix: str = ""
    endpoint: str | None = None
    region: str = "auto"
    key_id: str | None = None
    secret: str | None = None
    place: Place = Place.BUCKET

    @classmethod
    def of(cls, url: str, endpoint: str | None, region: str, key_id: str | None, secret: str | None) -> Bucket:
        """The bucket that `s3://bucket/folder` names."""
        scheme, _, rest = url.partition("://")
        name, _, prefix = rest.partition("/")
        if scheme != "s3" or not name:
            raise SettingsError(
                f"LANEWAY_ARTIFACTS_URL is `{url[:80]}`, which names no bucket.", hint="Write s3://BUCKET/FOLDER."
            )
        return cls(name, prefix.strip("/"), endpoint, region, key_id, secret)

    async def put(self, digest: str, content: bytes) -> None:
        import obstore
        from obstore.exceptions import BaseError

        store, path = self._store(), self._path(digest)
        try:
            if await self._size(store, path) != len(content):
                await obstore.put_async(store, path, content, use_multipart=False)
        except BaseError as error:
            raise ShelfFault(self._complaint(error)) from error

    async def get(self, digest: str) -> bytes:
        import obstore
        from obstore.exceptions import BaseError, NotFoundError

        try:
            found = await obstore.get_async(self._store(), self._path(digest))
            return bytes(await found.bytes_async())
        except (NotFoundError, FileNotFoundError) as error:
            raise Missing(f"the bucket {self.name} has no {self._path(digest)}") from error
        except BaseError as error:
            raise ShelfFault(self._complaint(error)) from error

    async def _size(self, store: S3Store, path: str) -> int | None:
        import obstore
        from obstore.exceptions import NotFoundError

        try:
            return int((await obstore.head_async(store, path))["size"])
        except (NotFoundError, FileNotFoundError):
            return None

    def _store(self) -> S3Store:
        from obstore.store import S3Store

        return S3Store(
            self.name,
            prefix=self.prefix or None,
            endpoint=self.endpoint,
            region=self.region,
            access_key_id=self.key_id,
            secret_access_key=self.secret,
            virtual_hosted_style_request=False,
            client_options={"allow_http": True, "timeout": PATIENCE, "connect_timeout": timedelta(seconds=5)},
            retry_config={"max_retries": 2, "retry_timeout": PATIENCE},
        )

    def _path(self, digest: str) -> str:
        return f"{digest[:2]}/{digest[2:]}"

    def _complaint(self, error: Exception) -> str:
        # What the library says spans lines and may quote the whole answer; the first line says what happened.
        return f"the bucket {self.name}: {str(error).strip().splitlines()[0][:200]}"
