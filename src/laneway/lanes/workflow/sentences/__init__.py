"""Patches of the usual shapes from plain English, without a model.

Each file reads one family of sentences, all of a sentence or nothing: what is left over is not understood, and what is
not understood is refused. A step is found by its name or not at all; where two would fit, both are named.
"""

from laneway.lanes.workflow.sentences.draft import Draft, Known, Refusal
from laneway.lanes.workflow.sentences.planner import planned

__all__ = ["Draft", "Known", "Refusal", "planned"]
