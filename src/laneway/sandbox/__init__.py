"""Running and reaching what we did not write: commands behind a boundary, paths and hosts checked first, and taken back."""
