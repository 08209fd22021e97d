"""The only package that speaks SQL.

`database.py` holds the pool, `migrate.py` and `migrations/` the schema, `embedded.py` the PostgreSQL that
needs no installation; each other file keeps one noun. Rows become frozen dataclasses of `domain`; a change
of status goes through here and nowhere else.
"""
