"""Values that the database refuses for what they are, told apart from a database that is not there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
from psycopg.errors import CheckViolation

from laneway.errors import Unavailable

BEYOND_LIMITS = "54"
"""The class of errors of a PostgreSQL that is there and well, and cannot hold so much in one place."""


class CannotHold(Exception):
    """The database answers and never will hold this value: trying again cannot help."""


@contextmanager
def holding() -> Iterator[None]:
    """What the database refuses for its content is a CannotHold; whatever else goes wrong with it stays what it is."""
    try:
        yield
    except (psycopg.DataError, CheckViolation, UnicodeEncodeError) as error:
        raise CannotHold(_told(error)) from error
    except Unavailable as error:
        cause = error.__cause__
        if isinstance(cause, psycopg.Error) and (cause.sqlstate or "").startswith(BEYOND_LIMITS):
            raise CannotHold(_told(cause)) from error
        raise


def _told(error: Exception) -> str:
    """The name of what is wrong: the words of the database may repeat what it was given."""
    code = error.sqlstate if isinstance(error, psycopg.Error) else None
    return f"{type(error).__name__}, {code}" if code else type(error).__name__
