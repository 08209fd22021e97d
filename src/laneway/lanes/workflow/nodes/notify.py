"""`notify`: tells somebody, by the owner's thread, a channel, mail, a webhook or Slack."""

from __future__ import annotations

from laneway.lanes.workflow.hands import Kind
from laneway.lanes.workflow.notifying import notified

KIND = Kind("notify", notified, knows_secrets=True, hears=True)
