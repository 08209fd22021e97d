"""The workflow lane: stored, versioned graphs that are patched by request and really run."""
