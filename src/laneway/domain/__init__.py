"""The glossary as frozen dataclasses and enums.

Standard library only. Every noun of docs/glossary.md that the store keeps has its type here, and state
machines are tables one can read. Nothing in this package does anything.
"""
