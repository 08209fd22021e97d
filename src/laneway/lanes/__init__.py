"""Lanes: ways of doing work. Each is a complete slice and none imports another.

A lane takes a `Request` and returns an `Answer`; on its way it uses durable steps, so that whatever it did
before a crash is not done again. docs/adding-a-lane.md shows how to add one.
"""
