"""Other agents' sessions, read as they are written: Claude Code, Codex, Gemini CLI, Copilot CLI, OpenCode and pi.

`sources.py` gives the bytes of a log, `lines.py` makes records of them, `recognition.py` says whose they are, and one
reader per provider (`claude_code.py`, `codex.py`, …, all `reader.py`) counts them and turns them into the events of
`domain/session.py`. `reading.py` puts these together for one log, `tail.py` follows a growing one, `read.py` reads a
file to its end and makes the `report.py`, `discovery.py` finds the sessions on this machine. Everything is incremental:
the same bytes give the same totals and the same events, in whatever pieces they come.
"""
