"""Brings a database to the schema this version of Laneway needs."""

from __future__ import annotations

from pathlib import Path

import psycopg

from laneway.errors import SettingsError, Unavailable

HEAD = "0025"
_LOCK = 0x1A4E  # Any constant: two processes that start together must not migrate together.


def sqlalchemy_url(database_url: str) -> str:
    """The same address as SQLAlchemy writes it, with the psycopg driver named."""
    return f"postgresql+psycopg://{database_url.partition('://')[2]}"


def current_version(database_url: str) -> str | None:
    """The version the database is at, or None if Laneway has never been there."""
    _check_address(database_url)
    try:
        with psycopg.connect(database_url, connect_timeout=10) as connection:
            row = connection.execute("SELECT to_regclass('laneway_version')").fetchone()
            if row is None or row[0] is None:
                return None
            found = connection.execute("SELECT version_num FROM laneway_version").fetchone()
            return None if found is None else str(found[0])
    except psycopg.OperationalError as error:
        raise unreachable(database_url, error) from error


def _check_address(database_url: str) -> None:
    """Returns only if this can be the address of a PostgreSQL."""
    try:
        psycopg.conninfo.conninfo_to_dict(database_url)
        wrong = not database_url.startswith(("postgresql://", "postgres://"))
    except psycopg.ProgrammingError:
        wrong = True
    if wrong:
        # Nothing of it is quoted, by us or by the driver: it may hold a password.
        raise SettingsError(
            "DATABASE_URL is not the address of a PostgreSQL.",
            hint="Write it like postgresql://user:password@host:5432/database.",
        )


def migrate(database_url: str) -> bool:
    """The database has the newest schema; True if anything had to change."""
    if current_version(database_url) == HEAD:
        return False
    # Imported here: a start that finds the schema current does not pay for Alembic.
    import sqlalchemy
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).parent / "migrations"))
    engine = sqlalchemy.create_engine(sqlalchemy_url(database_url), poolclass=sqlalchemy.pool.NullPool)
    with engine.begin() as connection:
        connection.execute(sqlalchemy.text(f"SELECT pg_advisory_xact_lock({_LOCK})"))
        config.attributes["connection"] = connection
        command.upgrade(config, "head")
    return True


def unreachable(database_url: str, error: Exception) -> Unavailable:
    """The error to raise when no server answers; it names the place and keeps the password to itself."""
    info = psycopg.conninfo.conninfo_to_dict(database_url)
    place = f"{info.get('host', 'localhost')}:{info.get('port', 5432)}/{info.get('dbname', '')}"
    return Unavailable(
        f"The database at {place} cannot be reached: {str(error).splitlines()[0]}.",
        hint="Start it, or correct DATABASE_URL; unset it to use the embedded one.",
    )
