"""Channels: the doors messages come in and replies go out by.

`intake.py` checks what a door received and writes it down; `delivery.py` sends what the outbox holds. A pulled
channel (HTTP, console) is read by its client and needs no delivery; a pushed one brings a `Channel` that sends.
"""
