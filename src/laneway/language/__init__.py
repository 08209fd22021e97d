"""Plain English read without a model: tokens, numbers, times, names, politeness, refusals; one reader for all parts."""
