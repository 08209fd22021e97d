"""The lane with all its parts, from what the composition root knows."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from laneway.clock import SystemClock
from laneway.engine.steps import Steps
from laneway.lanes.contract import Take
from laneway.lanes.pipeline.drafting import Drafting
from laneway.lanes.pipeline.fetching import Fetching
from laneway.lanes.pipeline.http_rows import HttpRows
from laneway.lanes.pipeline.inputs import Inputs
from laneway.lanes.pipeline.lane import PipelineLane
from laneway.lanes.pipeline.tool import Execute, executing
from laneway.llm.choice import Models
from laneway.sandbox.exchange import Exchange
from laneway.sandbox.hosts import Allowed
from laneway.store.artifacts import Artifacts
from laneway.store.database import Database


@dataclass(frozen=True)
class Pipelines:
    """What works on tables here: for the lane, for the toolbox, and for whoever needs rows from an address."""

    db: Database
    shelf: Artifacts
    inputs: Inputs
    http: HttpRows
    most_rows: int

    @classmethod
    def of(cls, db: Database, shelf: Artifacts, allowed_hosts: Iterable[str], most_rows: int) -> Pipelines:
        http = HttpRows(Exchange(Allowed.of(allowed_hosts)), most_rows)
        return cls(db, shelf, Inputs(db, shelf, most_rows), http, most_rows)

    def execute(self) -> Execute:
        """What `execute_pipeline` does as a tool among others."""
        return executing(self.db, self.shelf, self.inputs, self.http, self.most_rows)

    def lane(self, steps: Steps, models: Models, take: Take, zone: str, patience: int) -> PipelineLane:
        """The lane; what day it is is asked of the clock, in the owner's zone; `patience` is for approvals."""
        watch = SystemClock()
        return PipelineLane(
            self.db, steps, self.shelf, self.inputs,
            Fetching(self.db, steps, self.shelf, self.http, patience),
            Drafting(models.execute, models.execute_settings, take),
            most_rows=self.most_rows, today=lambda: watch.now().astimezone(ZoneInfo(zone)).date(), zone=zone,
        )  # fmt: skip
