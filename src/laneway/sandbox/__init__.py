"""Running and reaching what we did not write: commands behind a boundary, paths and hosts that are checked first."""
