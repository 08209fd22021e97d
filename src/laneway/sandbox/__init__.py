"""Running what we did not write: the guard that judges a command before it runs, and the boundary it runs in."""
