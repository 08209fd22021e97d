"""The settings of channels: Telegram, WhatsApp, bridges, people and attachments."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, Field, SecretStr

from laneway.settings.field import setting

Fee = Annotated[float, Field(ge=0)]


class ChannelSettings(BaseModel):
    """What the owner decided about the doors messages come in by."""

    public_url: str | None = setting(
        None, "public_url", "LANEWAY_PUBLIC_URL", "The https address under which providers reach this server.",
        pattern=r"https://[^\s]+",
    )  # fmt: skip

    telegram_token: SecretStr | None = setting(None, None, "TELEGRAM_BOT_TOKEN", "Token of the bot; unset = off.")
    telegram_mode: Literal["polling", "webhook"] = setting(
        "polling", "telegram.mode", "LANEWAY_TELEGRAM_MODE", "Ask Telegram for messages, or be told at `public_url`."
    )
    telegram_secret: SecretStr | None = setting(
        None, None, "TELEGRAM_WEBHOOK_SECRET", "What Telegram proves itself with; a webhook needs it."
    )
    telegram_api_url: str | None = setting(
        None, "telegram.api_url", "LANEWAY_TELEGRAM_API_URL", "Another address of the Bot API."
    )
    telegram_owners: tuple[str, ...] = setting(
        (), "telegram.owners", "LANEWAY_TELEGRAM_OWNERS", "User ids that are the owner's."
    )
    telegram_operators: tuple[str, ...] = setting(
        (), "telegram.operators", "LANEWAY_TELEGRAM_OPERATORS", "User ids of operators."
    )
    telegram_customers: bool = setting(
        False, "telegram.customers", "LANEWAY_TELEGRAM_CUSTOMERS", "Let everybody else in as a customer."
    )

    whatsapp_token: SecretStr | None = setting(
        None, None, "WHATSAPP_TOKEN", "Access token of the WhatsApp Cloud API; unset = off."
    )
    whatsapp_app_secret: SecretStr | None = setting(
        None, None, "WHATSAPP_APP_SECRET", "What WhatsApp signs its messages with; needed with the token."
    )
    whatsapp_verify_token: SecretStr | None = setting(
        None, None, "WHATSAPP_VERIFY_TOKEN", "What WhatsApp says when it looks for the webhook."
    )
    whatsapp_number_id: str | None = setting(
        None, "whatsapp.number_id", "WHATSAPP_PHONE_NUMBER_ID", "Id of the number (not the number itself)."
    )
    whatsapp_api_url: str = setting(
        "https://graph.facebook.com/v23.0", "whatsapp.api_url", "LANEWAY_WHATSAPP_API_URL", "Address of the Graph API."
    )
    whatsapp_template: str | None = setting(
        None, "whatsapp.template", "LANEWAY_WHATSAPP_TEMPLATE",
        "Approved template with one text parameter, sent when a person last wrote over a day ago.",
    )  # fmt: skip
    whatsapp_template_language: str = setting(
        "en", "whatsapp.template_language", "LANEWAY_WHATSAPP_TEMPLATE_LANGUAGE", "Its language."
    )
    whatsapp_fees: dict[str, Fee] = setting(
        {}, "whatsapp.fees", "LANEWAY_WHATSAPP_FEES", "What a message costs, in USD by pricing category."
    )
    whatsapp_owners: tuple[str, ...] = setting(
        (), "whatsapp.owners", "LANEWAY_WHATSAPP_OWNERS", "Numbers (digits only) that are the owner's."
    )
    whatsapp_operators: tuple[str, ...] = setting(
        (), "whatsapp.operators", "LANEWAY_WHATSAPP_OPERATORS", "Numbers of operators."
    )
    whatsapp_customers: bool = setting(
        False, "whatsapp.customers", "LANEWAY_WHATSAPP_CUSTOMERS", "Let everybody else in as a customer."
    )

    waha_url: str | None = setting(None, "waha.url", "WAHA_URL", "Address of a WAHA bridge to WhatsApp; unset = off.")
    waha_key: SecretStr | None = setting(None, None, "WAHA_API_KEY", "Key of its API.")
    waha_hmac_key: SecretStr | None = setting(
        None, None, "WAHA_HMAC_KEY", "What the bridge signs its webhooks with; needed with the address."
    )
    waha_session: str = setting("default", "waha.session", "WAHA_SESSION", "Name of its session.")
    waha_owners: tuple[str, ...] = setting(
        (), "waha.owners", "LANEWAY_WAHA_OWNERS", "Numbers (digits only) that are the owner's."
    )
    waha_operators: tuple[str, ...] = setting((), "waha.operators", "LANEWAY_WAHA_OPERATORS", "Numbers of operators.")
    waha_customers: bool = setting(
        False, "waha.customers", "LANEWAY_WAHA_CUSTOMERS", "Let everybody else in as a customer."
    )

    business_prompt: Path | None = setting(
        None, "people.business_prompt", "LANEWAY_BUSINESS_PROMPT",
        "Markdown file in the data directory that customers are answered by; unset = `business.md`, if it is there.",
    )  # fmt: skip
    messages_per_minute: int = setting(
        600, "people.messages_per_minute", "LANEWAY_MESSAGES_PER_MINUTE",
        "Messages taken from the owner or an operator in a minute.", ge=1,
    )  # fmt: skip
    customer_messages_per_minute: int = setting(
        15, "people.customer_messages_per_minute", "LANEWAY_CUSTOMER_MESSAGES_PER_MINUTE",
        "Messages taken from one customer in a minute.", ge=1,
    )  # fmt: skip

    transcription_url: str | None = setting(
        None, "attachments.transcription_url", "LANEWAY_TRANSCRIPTION_URL",
        "OpenAI-compatible server that writes down voice notes; unset = OpenAI's, if its key is set.",
    )  # fmt: skip
    transcription_key: SecretStr | None = setting(
        None, None, "LANEWAY_TRANSCRIPTION_KEY", "Its key; unset = OPENAI_API_KEY, for OpenAI's own address only."
    )
    transcription_model: str = setting(
        "gpt-4o-mini-transcribe", "attachments.transcription_model", "LANEWAY_TRANSCRIPTION_MODEL", "Its model."
    )
    describe_images: bool = setting(
        True, "attachments.describe_images", "LANEWAY_DESCRIBE_IMAGES", "Have a model say what an image shows."
    )
    vision_model: str | None = setting(
        None, "attachments.vision_model", "LANEWAY_VISION_MODEL",
        "`provider:model` that looks at images; unset = the small model.",
    )  # fmt: skip
    document_pages: int = setting(
        50, "attachments.document_pages", "LANEWAY_DOCUMENT_PAGES", "Pages read of a document.", ge=1
    )
    document_seconds: float = setting(
        20.0, "attachments.document_seconds", "LANEWAY_DOCUMENT_SECONDS", "Longest time for reading one file.", gt=0
    )
    artifacts_url: str | None = setting(
        None, "attachments.artifacts_url", "LANEWAY_ARTIFACTS_URL",
        "Where large files are kept, like s3://bucket/folder; unset = the data directory.",
    )  # fmt: skip
    artifacts_endpoint: str | None = setting(
        None, "attachments.artifacts_endpoint", "LANEWAY_ARTIFACTS_ENDPOINT", "Address of an S3-compatible server (R2)."
    )
    artifacts_region: str = setting("auto", "attachments.artifacts_region", "LANEWAY_ARTIFACTS_REGION", "Its region.")
    artifacts_key_id: SecretStr | None = setting(None, None, "LANEWAY_ARTIFACTS_KEY_ID", "Its access key id.")
    artifacts_secret: SecretStr | None = setting(None, None, "LANEWAY_ARTIFACTS_SECRET", "Its secret access key.")
