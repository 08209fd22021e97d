"""Laneway: one durable front door for AI agents."""

__version__ = "0.1.0"
