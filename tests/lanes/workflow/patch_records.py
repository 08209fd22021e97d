"""Patches, documents and what must come of them: our own records, over the same ground as json-patch-tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

RECORDS: list[dict[str, Any]] = json.loads(Path(__file__).with_name("patch_records.json").read_text("utf-8"))
