"""What programs do: one file for each family, each with a table of the programs it judges.

A rule is a function of an Invocation that yields findings. `registry.py` puts the tables together.
"""
