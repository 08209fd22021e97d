"""The embedded PostgreSQL says why it cannot be made."""

from __future__ import annotations

from pathlib import Path

import pytest

from laneway.errors import Unavailable
from laneway.store.embedded import EmbeddedPostgres


def test_a_data_directory_that_cannot_be_made_is_told_with_what_postgresql_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "xx_NOWHERE.UTF-8")
    with pytest.raises(Unavailable, match="invalid locale settings"):
        EmbeddedPostgres(tmp_path).start()
    assert not (tmp_path / "postgres" / "PG_VERSION").exists()
    monkeypatch.delenv("LC_ALL")
    with EmbeddedPostgres(tmp_path) as url:
        assert url.startswith("postgresql://")
