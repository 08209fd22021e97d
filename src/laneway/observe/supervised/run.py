"""THE STORY of a supervised run: start, carry bytes and signals, watch, freeze or end, report."""

from __future__ import annotations

import errno
import os
import queue
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from laneway.domain.session import SessionEvent
from laneway.observe.supervised.armed import Armed
from laneway.observe.supervised.asking import is_refused, resumes
from laneway.observe.supervised.child import News
from laneway.observe.supervised.ending import end, freeze, thaw
from laneway.observe.supervised.locate import Locator
from laneway.observe.supervised.order import EXIT_CODES, Cause, Order
from laneway.observe.supervised.report import RunReport, named
from laneway.observe.supervised.signals import Signals, stop_ourselves
from laneway.observe.supervised.stage import Stage
from laneway.observe.supervised.tree import Process, Tree
from laneway.observe.supervised.watching import Alarm, Watching
from laneway.observe.supervised.worktree import changes, commit_of
from laneway.reactors import Intervene, Warn

_FORWARDED = frozenset({signal.SIGINT, signal.SIGQUIT, signal.SIGTSTP, signal.SIGUSR1, signal.SIGUSR2})
_ENDING = frozenset({signal.SIGTERM, signal.SIGHUP})
_ASKED_EACH_TIME = frozenset({Cause.DANGER, Cause.REACTOR})
"""After "resume" another danger is asked about; a budget that is used up stays used up."""
_NOT_FOUND, _NOT_RUNNABLE = 127, 126


@dataclass(frozen=True, slots=True)
class End:
    """Why it is over."""

    cause: Cause
    reason: str
    code: int
    reactor: str = ""
    event: SessionEvent | None = None
    first: int = signal.SIGTERM
    """The signal that is sent before KILL."""
    at_once: bool = False
    """KILL comes first: it stands still already, and is not to move again."""


def supervise(order: Order, armed: Armed, tell: Callable[[Alarm], None] = lambda _: None) -> RunReport:
    """The agent has run and ended, or was ended; nothing of it lives on. `tell` hears every intervention."""
    base = commit_of(order.cwd)
    locator = Locator(order)
    with Signals() as signals:
        run = _Run(order, armed, tell, locator, signals)
        try:
            run.until_it_ends()
        finally:
            run.close()
    return run.report(base)


class _Run:
    """One run, from its start to its end."""

    def __init__(
        self, order: Order, armed: Armed, tell: Callable[[Alarm], None], locator: Locator, signals: Signals
    ) -> None:
        self._order, self._signals, self._notify = order, signals, tell
        self._began, self._clock = datetime.now(UTC), time.monotonic()
        self._deadline = self._clock + 60 * order.max_minutes if order.max_minutes is not None else None
        self._stage = Stage(order, signals.ignored)
        self._child, self._speech = self._stage.child, self._stage.speech
        self._tree = Tree(order.run_id, self._child.keeper, group=self._child.group)
        locator.living = lambda: self._tree.living(marked=False)
        self._alarms: queue.SimpleQueue[Alarm] = queue.SimpleQueue()
        self._watching = Watching(order, locator, armed, self._alarmed)
        self._forgiven: set[str] = set()
        self._end: End | None = None
        self._killed: list[Process] = []
        self._survivors: list[Process] = []

    def _alarmed(self, alarm: Alarm) -> None:
        self._alarms.put(alarm)
        self._signals.wake()

    def until_it_ends(self) -> None:
        """The agent has ended, or there is a reason to end it."""
        self._watching.start()
        while self._end is None:
            left = None if self._deadline is None else self._deadline - time.monotonic()
            self._stage.wait([self._child.talk.fileno(), self._signals.reading], left)
            heard = self._signals.taken()
            # First the news: a signal has to find the agent it is for.
            for news in self._child.news():
                self._heard(news)
            for number in heard:
                self._signalled(number)
            if self._child.lost and self._end is None:
                self._end = End(Cause.SIGNAL, "Its keeper was killed from outside.", 128 + signal.SIGKILL)
            if self._watching.broken and not self._watching.is_alive():
                # An agent that nobody watches is not what was asked for.
                self._end = self._end or End(Cause.FAULT, "It could not be watched any more.", EXIT_CODES[Cause.FAULT])
            self._judge()
            self._speech.attend()

    def _signalled(self, number: int) -> None:
        if number in _ENDING and self._end is None:
            name = signal.Signals(number).name
            self._end = End(Cause.SIGNAL, f"laneway run was ended by {name}.", 128 + number, first=number)
        elif number in _FORWARDED:
            self._child.signal(number)
        elif number == signal.SIGWINCH:
            self._stage.resized()

    def _heard(self, news: News) -> None:
        if news.what == "ended":
            code = os.waitstatus_to_exitcode(news.number)
            reason = f"It ended with code {code}." if code >= 0 else f"It was ended by signal {-code}."
            self._end = self._end or End(Cause.ITSELF, reason, code if code >= 0 else 128 - code)
        elif news.what == "failed":
            code = _NOT_FOUND if news.number in (errno.ENOENT, errno.ENOTDIR) else _NOT_RUNNABLE
            self._end = End(Cause.ITSELF, f"It could not be started: {os.strerror(news.number)}.", code)
            self._speech.say(f"{self._order.command[0]}: {os.strerror(news.number)}.")
        elif news.what == "stopped" and self._stage.terminal and self._child.pid:
            self._suspend(self._child.pid)

    def _suspend(self, agent: int) -> None:
        """The agent stopped itself (Ctrl-Z), so we do, and the shell has its terminal; both go on together."""
        self._stage.leave()
        stop_ourselves()
        self._stage.enter()
        os.killpg(agent, signal.SIGCONT)

    def _judge(self) -> None:
        """What the reactors said has been passed on; the first who wants an end gets it, or the question is asked."""
        while self._end is None and not self._alarms.empty():
            alarm = self._alarms.get()
            text = self._passed_on(alarm)
            if alarm.kills and alarm.said.reactor not in self._forgiven:
                self._stop(End(alarm.cause, text, EXIT_CODES[alarm.cause], alarm.said.reactor, alarm.event))
        if self._end is None and self._deadline is not None and time.monotonic() >= self._deadline:
            reason = f"It ran for {self._order.max_minutes:g} minutes, which is its limit."
            self._stop(End(Cause.TIME, reason, EXIT_CODES[Cause.TIME]))

    def _passed_on(self, alarm: Alarm) -> str:
        """The person has been told what the reactor said."""
        reaction = alarm.said.reaction
        text = reaction.message if isinstance(reaction, Warn) else reaction.reason
        self._speech.say(f"{alarm.said.reactor}: {text}", ring=isinstance(reaction, Intervene))
        if isinstance(reaction, Intervene):
            self._notify(alarm)
        return text

    def _stop(self, why: End) -> None:
        """The run is over, unless the agent is only frozen and a person lets it go on."""
        if not self._order.freeze:
            self._end = why
        elif not self._is_resumed(why):
            self._end = replace(why, at_once=True)
        elif why.cause is Cause.TIME:
            self._deadline = None
        elif why.cause not in _ASKED_EACH_TIME:
            self._forgiven.add(why.reactor)

    def _is_resumed(self, why: End) -> bool:
        froze = time.monotonic()
        freeze(self._tree)
        self._stage.leave()
        self._speech.pause()
        self._speech.say(f"Frozen: {why.reason}")
        # Whoever reads the next line may answer it at once: from here on every signal counts.
        refused, terminal = is_refused(self._signals), self._stage.terminal
        if terminal is None or not terminal.reads:
            self._speech.say(f"Without an answer it ends in {self._order.freeze_wait:g} s: kill -CONT {os.getpid()}")
        if refused or not resumes(terminal, self._signals, self._order.freeze_wait):
            return False
        self._speech.resume()
        self._stage.enter()
        thaw(self._tree)
        # That it stood still was our doing; the rest of the news is news.
        for news in self._child.news():
            if news.what != "stopped":
                self._heard(news)
        if self._deadline is not None:
            self._deadline += time.monotonic() - froze
        return True

    def close(self) -> None:
        """Nothing of the agent lives on, the terminal is the person's again, and all that was held back is said."""
        why = self._end or End(Cause.SIGNAL, "laneway run failed.", 1)
        try:
            if why.cause is not Cause.ITSELF or not self._order.keep_background:
                self._killed = self._tree.living()
            if self._killed:
                grace = 0 if why.at_once else self._order.grace
                self._survivors = end(self._tree, why.first, grace, self._stage.meanwhile)
            self._stage.empty()
        finally:
            self._stage.close()
            self._watching.stop()
            if why.cause is Cause.ITSELF:
                self._say_what_is_left()
            self._speech.alone()

    def _say_what_is_left(self) -> None:
        """Its last lines were read after its end: there is nothing left to stop, but something to know."""
        while not self._alarms.empty():
            self._passed_on(self._alarms.get())
        if self._killed:
            self._speech.say(f"It left processes behind, which were ended: {named(self._killed)}.")

    def report(self, base: str | None) -> RunReport:
        """What is left to say."""
        why = self._end or End(Cause.SIGNAL, "laneway run failed.", 1)
        watching, state = self._watching, self._watching.whole.state
        return RunReport(
            run_id=self._order.run_id,
            command=self._order.command,
            cwd=str(self._order.cwd),
            began=self._began,
            seconds=time.monotonic() - self._clock,
            cause=why.cause,
            reason=why.reason,
            exit_code=why.code,
            reactor=why.reactor,
            evidence=why.event,
            open_calls=watching.open_calls,
            tokens=state.tokens,
            cost=state.cost,
            unpriced=sorted(watching.unpriced),
            logs=[str(one.tail.path) for one in watching.followed.values()],
            changes=changes(self._order.cwd, base),
            killed=self._killed,
            survivors=self._survivors,
        )
