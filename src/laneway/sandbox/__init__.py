"""Running what we did not write: where it may reach, what it may do, and how its traces are taken back."""
