"""`laneway run`: an agent in a terminal of its own, watched, and ended with everything it started when it has to be.

`run.py` tells the story. Three processes: ours, which has the person's terminal; the keeper (`keeper.py`), which leads
the agent's session, adopts what the agent leaves behind and ends it all if we die; and the agent (`child.py` starts
both). `stage.py` is what the person sees: `pump.py` carries bytes between their terminal (`terminal.py`) and the
agent's, `screen.py` knows whether a line of ours would spoil what is drawn there, `speech.py` says it then or later.
`locate.py` finds the agent's log, `watching.py` follows it in a thread and shows its events to the reactors that
`arming.py` loads. `tree.py` lists the processes of a run, by descent, by control group (`cgroup.py`) and by a mark in
their environment, `ending.py` stops or ends all of them, `report.py` and `worktree.py` write down what was left.
"""
