"""What can go wrong between us, DBOS and PostgreSQL; the loops of the engine outlive all of it."""

from __future__ import annotations

import psycopg
from dbos._error import DBOSException
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from laneway.errors import LanewayError, TransientFault, Unavailable

FAULTS = (LanewayError, psycopg.Error, SQLAlchemyError, DBOSException)
"""Everything a loop of the engine must survive."""

PASSING = (TransientFault, Unavailable, psycopg.OperationalError, DBAPIError)
"""What is worth another try of a job: a model or a database that did not answer this time."""
