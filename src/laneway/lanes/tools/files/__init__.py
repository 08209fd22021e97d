"""The file tools: a thread's own workspace read, searched and changed, every change kept so that it can be undone."""

from laneway.lanes.tools.files.entries import file_entries

__all__ = ["file_entries"]
