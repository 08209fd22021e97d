"""What can go wrong between us, DBOS and PostgreSQL; the loops of the engine outlive all of it."""

from __future__ import annotations

import asyncio

import psycopg
from dbos._error import DBOSException
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from laneway.errors import LanewayError, TransientFault, Unavailable

FAULTS = (LanewayError, psycopg.Error, SQLAlchemyError, DBOSException)
"""Everything a loop of the engine must survive."""

PASSING = (TransientFault, Unavailable, psycopg.OperationalError, DBAPIError)
"""What is worth another try of a job: a model or a database that did not answer this time."""


def ended() -> bool:
    """Whether this task was told to end.

    A cancellation can be lost: where a wait is over at the very moment of it, Python 3.11 lets the wait win. A loop
    that must end asks for itself.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0
