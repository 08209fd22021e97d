"""Telegram: replies as people see them there, and the Bot API behind one `Channel`.

`rendering.py` turns a model's Markdown into runs of marked text, `splitting.py` cuts these into parts a message can
hold, `channel.py` sends the parts. Only `api.py` and what imports it need aiogram, which is heavy: they are imported
when a token is set.
"""
