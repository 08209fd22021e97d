"""The HTTP door: everything Laneway can be asked and told over the network.

`server.py` puts it together. A request passes `metrics.py` (counted), `problems.py` (every
error leaves in one shape), `auth.py` (no key, no entry) and `limits.py` (no endless bodies) before a route of
`routes/` answers it in the shapes of `shapes.py`. `posting.py` reads what POST /messages brings; `stream.py` holds
the one connection that hears of events, and `sse.py` writes them to whoever watches.
"""
