"""Originals lie where they belong, are stored once, and come back as they were or not at all."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from laneway.errors import NotFound, SettingsError, Unavailable
from laneway.store.artifacts import Artifacts, record, reference
from laneway.store.database import Database
from laneway.store.shelves import Bucket, Folder, Place
from tests.servers.s3_server import S3Server

LARGE = os.urandom(200_000)
DIGEST = hashlib.sha256(LARGE).hexdigest()


async def kept(db: Database, originals: Artifacts, content: bytes, mime: str = "x/y") -> str:
    place = await originals.lay(content)
    async with db.transaction() as tx:
        return await record(tx, content, mime, place)


async def places(db: Database) -> list[tuple[str, int, bool]]:
    async with db.transaction() as tx:
        cursor = await tx.execute("SELECT place, size, content IS NULL FROM artifacts ORDER BY size")
        return [tuple(row) for row in await cursor.fetchall()]


async def test_small_ones_lie_in_the_database_and_large_ones_once_in_a_folder_before_their_row_is_written(
    db: Database, tmp_path: Path
) -> None:
    originals = Artifacts(db, [Folder(tmp_path / "artifacts")])
    small = await kept(db, originals, b"small", "text/plain")
    await originals.lay(LARGE)
    path = tmp_path / "artifacts" / DIGEST[:2] / DIGEST[2:]
    written = path.stat().st_mtime_ns
    assert await places(db) == [("row", 5, False)]
    large = [await kept(db, originals, LARGE) for _ in range(2)]
    assert large == [f"artifact://sha256/{DIGEST}"] * 2
    assert await places(db) == [("row", 5, False), ("folder", 200_000, True)]
    assert path.read_bytes() == LARGE
    assert path.stat().st_mtime_ns == written
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert (await originals.read(small)).content == b"small"
    assert (await originals.read(small)).mime == "text/plain"
    assert (await originals.read(large[0])).content == LARGE


async def test_what_was_changed_or_lost_where_it_lies_is_not_given_out(
    db: Database, s3: S3Server, tmp_path: Path
) -> None:
    folder, remote = Artifacts(db, [Folder(tmp_path)]), Artifacts(db, [bucket(s3)])
    ref, far = await kept(db, folder, LARGE), await kept(db, remote, LARGE[1:])
    path, key = tmp_path / DIGEST[:2] / DIGEST[2:], next(iter(s3.objects))
    path.write_bytes(LARGE[:-1] + b"!")
    s3.objects[key] = b"other"
    for originals, one in ((folder, ref), (remote, far)):
        with pytest.raises(NotFound, match="damaged"):
            await originals.read(one)
    # Whoever stores the same content again mends it.
    await folder.lay(LARGE)
    assert (await folder.read(ref)).content == LARGE
    path.unlink()
    s3.objects.clear()
    for originals, one in ((folder, ref), (remote, far)):
        with pytest.raises(NotFound, match="lost"):
            await originals.read(one)


async def test_a_folder_that_cannot_be_written_refuses_nothing(db: Database, tmp_path: Path) -> None:
    (tmp_path / "artifacts").write_text("a file where the folder should be")
    originals = Artifacts(db, [Folder(tmp_path / "artifacts")])
    ref = await kept(db, originals, LARGE)
    assert await places(db) == [("row", 200_000, False)]
    assert (await originals.read(ref)).content == LARGE


async def test_unknown_and_strange_references_are_not_found(db: Database, tmp_path: Path) -> None:
    for ref in ("", "artifact://sha256/../../etc/passwd", reference(b"never stored"), "x" * 64):
        with pytest.raises(NotFound):
            await Artifacts(db, [Folder(tmp_path)]).read(ref)


@pytest.fixture
def s3() -> Iterator[S3Server]:
    with S3Server("files", key_id="AKIA1", secret="s3cret") as server:
        yield server


def bucket(server: S3Server, secret: str = "s3cret", url: str = "s3://files/laneway") -> Bucket:
    return Bucket.of(url, server.url, "eu-central-1", "AKIA1", secret)


async def test_large_ones_lie_in_a_bucket_if_one_is_set(db: Database, s3: S3Server, tmp_path: Path) -> None:
    other = await kept(db, Artifacts(db, [Folder(tmp_path)]), LARGE[1:])
    originals = Artifacts(db, [bucket(s3), Folder(tmp_path)])
    ref = await kept(db, originals, LARGE)
    assert s3.objects == {f"laneway/{DIGEST[:2]}/{DIGEST[2:]}": LARGE}
    assert await places(db) == [("folder", 199_999, True), ("bucket", 200_000, True)]
    assert (await originals.read(ref)).content == LARGE
    assert (await originals.read(other)).content == LARGE[1:], "what was kept before a bucket was set is found"
    await kept(db, originals, LARGE)
    assert s3.puts == 1


async def test_a_wrong_secret_refuses_nothing_and_an_outage_when_reading_says_to_try_again(
    db: Database, s3: S3Server
) -> None:
    ref = await kept(db, Artifacts(db, [bucket(s3, secret="wrong")]), LARGE)
    assert s3.objects == {}
    assert await places(db) == [(Place.ROW, 200_000, False)]
    originals = Artifacts(db, [bucket(s3)])
    assert (await originals.read(ref)).content == LARGE
    far = await kept(db, originals, LARGE[1:])
    s3.down = True
    with pytest.raises(Unavailable, match="cannot be read"):
        await originals.read(far)
    with pytest.raises(Unavailable, match="no setting names"):
        await Artifacts(db, []).read(far)
    with pytest.raises(SettingsError, match="names no bucket"):
        bucket(s3, url="https://files/x")
