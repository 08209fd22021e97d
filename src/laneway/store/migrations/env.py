"""Alembic's entry point: runs the migrations on the connection `store.migrate` hands over."""

from __future__ import annotations

from alembic import context

connection = context.config.attributes["connection"]
context.configure(connection=connection, version_table="laneway_version")
with context.begin_transaction():
    context.run_migrations()
