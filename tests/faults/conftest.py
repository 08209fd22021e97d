"""Faults of the sandbox are tried on every boundary of this machine."""

from __future__ import annotations

from tests.sandboxing import boundary, strong, strongest, workspace

__all__ = ["boundary", "strong", "strongest", "workspace"]
