"""The embedded PostgreSQL says why it cannot be made."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from laneway.errors import Unavailable
from laneway.store.embedded import EmbeddedPostgres


def test_a_data_directory_that_cannot_be_made_is_told_with_what_postgresql_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Not in pytest's folder: another pytest that starts meanwhile shuts that to the user PostgreSQL runs as.
    with tempfile.TemporaryDirectory(prefix="laneway-test-") as folder:
        home = Path(folder)
        monkeypatch.setenv("LC_ALL", "xx_NOWHERE.UTF-8")
        with pytest.raises(Unavailable, match="invalid locale settings"):
            EmbeddedPostgres(home).start()
        assert not (home / "postgres" / "PG_VERSION").exists()
        monkeypatch.delenv("LC_ALL")
        with EmbeddedPostgres(home) as url:
            assert url.startswith("postgresql://")
