"""Running and reaching what we did not write: behind a boundary, with paths and hosts checked, and taken back."""
