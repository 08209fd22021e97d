"""Changes of workflows in plain English, without a model: a table of patterns, each with the patch it means."""
