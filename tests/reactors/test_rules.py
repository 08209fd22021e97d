"""Rules without code: what they say holds, and what is wrong with one is said."""

from __future__ import annotations

from datetime import timedelta

import pytest

from laneway.domain.session import EventKind, Tokens
from laneway.errors import SettingsError
from laneway.reactors.rules import Rule, rules_in
from tests.reactors.watched import Watched, kills, notices, warnings


def rules(text: str) -> list[Rule]:
    return [make() for make in rules_in(text, "mine.toml")]


PRODUCTION = """[[rule]]
name = "no production"
when = "tool_called"
tool = ["Bash", "mcp__db__*"]
pattern = 'prod(uction)?\\b'
do = "kill"
message = "Hands off production"
"""


def test_a_rule_looks_at_the_kind_the_tool_and_the_text() -> None:
    session = Watched(*rules(PRODUCTION))
    assert session.done("Bash", {"command": "psql staging"}) == []
    assert session.done("Read", {"file_path": "production.md"}) == []
    assert kills(session.call("bash", {"command": "psql production"})) == ["Hands off production: bash psql production"]
    assert len(kills(session.call("mcp__db__query", {"server": {"name": "prod"}}))) == 1
    assert session.tell(EventKind.USER, text="production") == []
    # The result of a tool is found by the tool's name.
    text = '[[rule]]\nname = "denied"\nwhen = "tool_ended"\ntool = "Bash"\npattern = "(?i)permission denied"'
    session = Watched(*rules(text))
    assert len(session.done("Bash", {"command": "x"}, "Permission denied")) == 1
    assert session.done("Read", {"file_path": "x"}, "Permission denied") == []


def test_a_threshold_speaks_when_it_is_reached_and_once() -> None:
    for threshold, least in (("tokens", 1000), ("input_tokens", 900), ("output_tokens", 100), ("context_percent", 40)):
        session = Watched(*rules(f'[[rule]]\nname = "much"\nat_least = {{ {threshold} = {least} }}\ndo = "notify"'))
        assert session.spend(Tokens(input=500), context_used=10, context_window=100) == []
        said = session.spend(Tokens(input=400, output=100), context_used=40, context_window=100)
        assert notices(said) == ["The rule much applies."], threshold
        assert session.spend(Tokens(input=400, output=100), context_used=50, context_window=100) == []


def test_silence_and_time_are_thresholds_too() -> None:
    silent = '[[rule]]\nname = "silent"\nat_least = { silent_seconds = 30 }\n'
    long = '[[rule]]\nname = "long"\nat_least = { minutes = 2, turns = 1 }\ndo = "notify"'
    session = Watched(*rules(silent + long))
    session.tell(EventKind.USER, text="go")
    assert warnings(session.wait(60)) == ["The rule silent applies."]
    assert notices(session.wait(60)) == ["The rule long applies."]


def test_a_rule_can_be_told_how_often_it_may_speak() -> None:
    session = Watched(*rules('[[rule]]\nname = "curl"\npattern = "curl"\nevery_seconds = 60'))
    assert len(session.call("Bash", {"command": "curl x"})) == 1
    assert session.call("Bash", {"command": "curl y"}) == []
    session.now += timedelta(seconds=60)
    assert len(session.call("Bash", {"command": "curl z"})) == 1


FAULTS = {
    "rule = 1": "mine.toml must hold [[rule]] tables and nothing else.",
    "": "mine.toml must hold [[rule]] tables and nothing else.",
    "[[rule]]\nname = ": "mine.toml is not valid TOML",
    '[[rule]]\nname = "a"': "mine.toml, rule 1: rule: it names no condition: when, tool, pattern or at_least.",
    '[[rule]]\nname = "a"\nwhen = "sunday"': "mine.toml, rule 1: when.0: Input should be",
    '[[rule]]\nname = "a"\npattern = "("': "mine.toml, rule 1: pattern: it is no regular expression",
    '[[rule]]\nname = "a"\ntool = "Bash"\ndo = "explode"': "mine.toml, rule 1: do: Input should be",
    '[[rule]]\nname = "a"\ntoll = "Bash"': "mine.toml, rule 1: toll: Extra inputs",
    '[[rule]]\nname = "a"\nat_least = { luck = 1 }': "mine.toml, rule 1: at_least.luck",
}


def test_what_is_wrong_with_a_rule_is_said_with_its_place() -> None:
    for text, fault in FAULTS.items():
        with pytest.raises(SettingsError) as raised:
            rules(text)
        assert raised.value.message.startswith(fault), text
