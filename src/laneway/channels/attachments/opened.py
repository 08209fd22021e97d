"""What the settings make of attachments: where originals lie, and who listens, looks and reads."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from laneway.channels.attachments.enricher import Enricher
from laneway.channels.attachments.fetching import Fetch, Fetching
from laneway.channels.attachments.kinds import Kinds
from laneway.channels.attachments.reading import Bounds, Readers, find_tesseract
from laneway.llm.choice import caps_of
from laneway.llm.meter import Meter
from laneway.llm.prompts import Prompts
from laneway.llm.transcription import Endpoint, Transcriber
from laneway.llm.vision import describer_of
from laneway.settings import Settings
from laneway.store.artifacts import Artifacts
from laneway.store.database import Database
from laneway.store.shelves import Bucket, Folder, Shelf

FOLDER = "artifacts"


def shelves_of(settings: Settings) -> list[Shelf]:
    """Where large files go, first; and where else some may lie."""
    folder = Folder(settings.home / FOLDER)
    bucket = bucket_of(settings)
    return [folder] if bucket is None else [bucket, folder]


def bucket_of(settings: Settings) -> Bucket | None:
    """The bucket that was set, if one was."""
    if settings.artifacts_url is None:
        return None
    key_id, secret = settings.artifacts_key_id, settings.artifacts_secret
    return Bucket.of(
        settings.artifacts_url,
        settings.artifacts_endpoint,
        settings.artifacts_region,
        key_id.get_secret_value() if key_id else None,
        secret.get_secret_value() if secret else None,
    )


def enricher_of(
    settings: Settings, db: Database, originals: Artifacts, fetch: Mapping[str, Fetch], prompts: Prompts,
    pulled: Collection[str],
) -> Enricher:  # fmt: skip
    """Who gives attachments their words, as far as there are keys and programs for it."""
    meter = Meter(db, caps_of(settings), settings.allow_unknown_price, pulled)
    endpoint = Endpoint.of(settings)
    bounds = Bounds(settings.document_seconds, settings.document_pages)
    kinds = Kinds(
        Readers(bounds, find_tesseract()),
        Transcriber(endpoint, meter) if endpoint else None,
        describer_of(settings, meter, prompts),
    )
    return Enricher(db, originals, Fetching(fetch, settings.max_file_bytes), kinds)
