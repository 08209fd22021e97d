"""The name of the file that holds the hooks' key, which opens nothing else."""

from __future__ import annotations

HOOK_KEY_FILE = "hooks-key"
