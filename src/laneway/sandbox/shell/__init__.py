"""The guard's reading of shell commands: what would run, on what, and whether that is dangerous.

A command is parsed (`grammar.py`) and walked as the shell would run it (`walk.py`): words are expanded as far as the
text tells (`expand.py`, `holes.py`), wrappers are taken off (`wrappers.py`), inline scripts are read (`scripts/`), and
what flows through pipes is followed (`streams.py`). Each program that would run is put to the rules of its family
(`programs/`), which know where a path lies (`places.py`). What they find is named in one table (`rules.py`).
"""
