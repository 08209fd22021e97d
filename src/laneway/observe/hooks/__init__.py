"""Hooks of other agents: Claude Code, Codex and Gemini CLI ask before a tool runs, and tell what happened.

`shapes.py` reads what each agent sends as one kind of request, `judging.py` decides by the rules of the guard and the
reactors, `answers.py` says it in the agent's own words. `desk.py` puts these together for the server: `sessions.py`
remembers each session, `loops.py` notices repetition, `recording.py` keeps decisions and events, `denied.py` and
`following.py` find out whether a denied call ran all the same.
"""
