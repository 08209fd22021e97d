"""What people send along: fetched, stored under its hash, and put into words."""

from laneway.channels.attachments.enricher import Enricher

__all__ = ["Enricher"]
