"""A classifier that every test of models may ask."""

from __future__ import annotations

import pytest

from laneway.classify.local import LocalClassifier
from tests.classify.asking import UNSURE
from tests.classify.encoders import first_encoder


@pytest.fixture(scope="module")
def never_sure(tmp_path_factory: pytest.TempPathFactory) -> LocalClassifier:
    """A local classifier that judges by real meanings and leaves every decision to somebody better."""
    local = LocalClassifier({"message": UNSURE}, tmp_path_factory.mktemp("cache"), [first_encoder])
    local.warm(["message"])
    local.remember("message")
    return local
