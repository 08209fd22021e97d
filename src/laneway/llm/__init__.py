"""Models: which one is asked, how often, at what price.

`choice.py` reads the settings and builds each concrete model as Retrying(Metered(concrete)), several of them in
a FallbackChain. `meter.py` reserves the worst price in the ledger before a call and settles the real one after
it; `guard.py` lets the engine stop a call whose worker lost its lease; `faults.py` says what went wrong and
whether trying again can help; `retry.py` tries again, and is the only place that does. `offline/` answers and
acts without a key, `scripted.py` answers what a script says, `word_by_word.py` streams what both say, and
`prompts.py` holds the words models are given.
Importing this package loads no provider's SDK.
"""
