"""The encoders stay loaded until the last test of this folder, and no longer: they take 220 MB."""

from __future__ import annotations

from pathlib import Path

import pytest

from laneway.classify.local import LocalClassifier
from tests.classify.asking import UNSURE
from tests.classify.encoders import first_encoder, release

HERE = Path(__file__).parent


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    if nextitem is None or nextitem.path.parent != HERE:
        release()


@pytest.fixture(scope="module")
def never_sure(tmp_path_factory: pytest.TempPathFactory) -> LocalClassifier:
    """A local classifier that judges by real meanings and leaves every decision to somebody better."""
    local = LocalClassifier({"message": UNSURE}, tmp_path_factory.mktemp("cache"), [first_encoder])
    local.warm(["message"])
    local.remember("message")
    return local
