"""The settings of telemetry: where counts and spans are pushed."""

from __future__ import annotations

from pydantic import BaseModel, SecretStr

from laneway.settings.field import setting


class TelemetrySettings(BaseModel):
    """What the owner decided about telling other systems."""

    otlp_url: str | None = setting(
        None, "telemetry.otlp_url", "LANEWAY_OTLP_URL",
        "Address of an OTLP/HTTP collector, without /v1/traces; unset = nothing is pushed.",
        pattern=r"https?://[^\s/]+[^\s]*",
    )  # fmt: skip
    otlp_headers: SecretStr | None = setting(
        None, None, "LANEWAY_OTLP_HEADERS", "Headers for it, like `authorization=Bearer abc,x-team=ops`."
    )

    def headers(self) -> dict[str, str]:
        """The collector's headers, by name."""
        told = "" if self.otlp_headers is None else self.otlp_headers.get_secret_value()
        pairs = (pair.partition("=") for pair in told.split(","))
        return {name.strip(): value.strip() for name, _, value in pairs if name.strip() and value.strip()}
