"""Reactors: watchers of events, in Laneway's own jobs and in other agents' sessions.

Each sees every event together with the state it led to, and answers Continue, Warn or Intervene. A reactor that fails
is recorded and passed over; only a deliberate Intervene stops anything.
"""

from laneway.reactors.border import Failed
from laneway.reactors.chain import Chain, Said, strongest
from laneway.reactors.contract import (
    Continue,
    Intervene,
    Reaction,
    Reactor,
    ReactorContext,
    Severity,
    Warn,
)

__all__ = [
    "Chain",
    "Continue",
    "Failed",
    "Intervene",
    "Reaction",
    "Reactor",
    "ReactorContext",
    "Said",
    "Severity",
    "Warn",
    "strongest",
]
