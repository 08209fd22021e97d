"""Two tables in one request: what joins them is found first, and the rest is read over the joined table."""
