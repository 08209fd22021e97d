"""Self-tests a user can run: they prove on this very machine what the documentation promises."""
