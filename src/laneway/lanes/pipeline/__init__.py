"""The pipeline lane: a one-off chain of table operations, planned, checked and run."""
