"""Thin over DBOS: launch, claim, run, cancel, heartbeat and recovery.

`launch.py` starts DBOS in the same PostgreSQL; `dispatch.py` claims ready jobs the moment they are committed;
`running.py` knows what this process runs and ends it on request; `heartbeat.py` says we are alive and finds
those who are not; `recovery.py` gives their jobs a new run; `steps.py` is what lanes use: a durable step, and
an effect that happens once.
"""
