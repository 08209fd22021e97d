"""What is tested of a boundary is tested of each."""

from __future__ import annotations

from tests.sandboxing import boundary, workspace

__all__ = ["boundary", "workspace"]
