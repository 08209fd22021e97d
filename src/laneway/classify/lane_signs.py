"""Signs in a clause: patterns over the groups of its words, each for one thing that tells a lasting change from a deed.

A clause is a line of group names (`lane_tags`), each followed by a blank.
"""

from __future__ import annotations

VERB = "(?:edit|store|halt|undo|clone|effect|read|shape|start|end|decide|dry|tries|cease|watch|leave)"
_ACT = "(?:edit|store|halt|undo|clone|effect|end|start)"
_STORED = "(?:part|thing)"
FILL = "(?:polite|and|now|later|defer|once|,|:|i)"
_FEW = r"(?:(?!and |, )\S+ ){0,4}?"
_FAR = r"(?:\S+ ){0,9}?"
_OPEN = rf"^(?:{FILL} )*(?:may )?(?:polite )*"

SIGNS = {
    # What the time words govern.
    "later": r"\blater\b",
    "whenever": r"\bwhenever\b",
    "repeats": r"\ball num and |\ball (?:past |num |x )?(?:num )?units? |\boften |\b(?:on|all) units |^units ",
    "named by its time": r"\bnamed\b",
    "repeated action": rf"{VERB} {_FAR}(?:all (?:num )?units? |often )|(?:all (?:num )?units? |often ){_FAR}{VERB} ",
    "around each event": r"\baround (?:all|some|fresh) |\bon (?:all (?!units?|num)|fresh )",
    "always": r"\balways\b",
    "always do": rf"{_OPEN}always {VERB} |\bmust {_FEW}always |\balways {_FEW}(?:cease|later)",
    "always is": r"\b(?:it|the|data|entity|x|be|i) always |\balways (?:be|past|x|effecte?d)",
    "all of the data": r"\ball (?:\S+ ){0,2}(?:data|entity|x) ",
    "all new": r"^(?:polite )*(?:all |some |fresh )(?:\S+ ){1,6}?must |\b(?:all|foreach|around) fresh ",
    "acts on what comes": r"\b(?:effect|edit|decide|halt|store|end|start) (?:(?!here|now)\S+ ){0,3}?fresh ",
    "past": r"\bpast\b",
    "past only": r"\bpast\b(?!.*\b(?:later|must|edit)\b)",
    "limited time": r"\buntil\b",
    "limited and repeated": r"\buntil (?=.*\b(?:all|often|always|halt|cease|some|fresh)\b)"
    r"|\b(?:all|often|halt|cease|some|fresh) .*\buntil ",
    "deferred": r"\bdefer\b|\bin num units? |\bon (?:num|time) ",
    # Once, not kept, now.
    "once": rf"\bonce\b|\b(?:start|effect|read) {_FAR}again ",
    "never again": r"\b(?:always|cease) .*\b(?:again|later)\b",
    "unsaved": r"\bunsaved\b|\bleave .*\basis\b|\basis $",
    "dry": rf"\bdry\b|{_OPEN}tries ",
    "now": r"\bnow\b",
    "here": r"\bhere\b",
    # Condition and outside effect.
    "condition": r"\bif\b",
    "condition first": r"^(?:polite |, |and )*if ",
    "condition on any": r"\bif (?:the |i )?(?:some|fresh|all|data|entity|x (?:is|be)) ",
    "condition then act": rf"\bif {_FAR}, (?:polite |and )*{_ACT} |^(?:polite )*if \S+ {_FAR}{_ACT} |{_ACT} {_FAR}if ",
    "condition then read": r"\bif .*, (?:polite |and )*(?:read|shape|ask|wonder|dry) ",
    "over a number": r"\bover (?:x )?num\b",
    "edits it": r"\b(?:edit|halt|undo) (?:it|again)\b",
    "names a stored thing": rf"\b{_STORED}\b",
    "condition on now": r"\bif (?=.*\b(?:now|here|past|once|num run|run num)\b)",
    # What the verb is and what it works on.
    "edits a part": rf"\b(?:edit|store|effect|shape|leave) {_FEW}part\b"
    r"|\bin (?:the )?(?:\S+ )?part .*\b(?:edit|leave)\b"
    r"|\bmay .*\bpart .*\bedit\b",
    "edits a stored thing": rf"\b(?:edit|store) {_FEW}thing\b",
    "edits data": rf"\b(?:edit|shape|store) {_FEW}(?:data|here)\b|\bundo (?:the |here )?(?:data|shape)\b",
    "shapes": r"\bshape\b",
    "halts": r"\bhalt (?!here)(?:(?!and |, |here )\S+ ){0,4}?(?:part|thing|often|named) (?!run)",
    "halts something": r"\bhalt\b",
    "halts a run": rf"\b(?:halt|end|cease(?! \w+ing)) {_FEW}(?:here|run|start)\b",
    "ends a stored thing": rf"\b(?:end|cease|edit) (?:the |i )?(?:named |x )?{_STORED} (?!run|start|here)",
    "all stored things": rf"\ball (?:\S+ )?{_STORED}\b",
    "watches": rf"{_OPEN}watch ",
    "undoes": rf"\bundo (?!the data|here data){_FEW}(?:part|edit|past|thing|num|x|all)\b",
    "copies": rf"\bclone {_FEW}(?:part|thing)\b",
    "keeps it": r"\bstore (?:it|here) ",
    "stores": r"\bstore\b",
    "deferred by name": r"\bdefer\b",
    "stops an activity": r"\bcease \w+ing\b",
    "stops doing": r"\bcease (?:the |x )?(?:\w+ing|x|thing|effect)\b|\bcease $",
    "starts": rf"{_OPEN}start ",
    "starts a run": rf"\bstart {_FEW}(?:run|part|thing|here|past|it|once|now)\b",
    "ends a run": rf"\bend {_FEW}(?:run|here|start|past|num)\b",
    "decides": rf"{_OPEN}decide ",
    "reads": rf"{_OPEN}(?:dry|tries|read|wonder|ask) ",
    "reads a part": rf"\b(?:read|dry|ask|wonder) {_FAR}{_STORED}\b",
    "effect": rf"{_OPEN}effect ",
    "effect in numbers": rf"{_OPEN}effect (?:the |here |i )?(?:here|it|all|data|entity|num|run)\b",
    "must": r"\bmust\b",
    "thing must": rf"\b(?:{_STORED}|x|data|entity|all|some|fresh|time) (?:\S+ ){{0,3}}must\b",
    "instead": r"\binstead\b",
    "value for value": r"\b(?:num|time|units?|often|part|data|x) (?:, )?instead ",
    "sets a number": rf"\b(?:part|thing|edit) {_FEW}(?:num|time|often)\b",
    "bare setting": r"^(?:the )?(?:part|store|thing) (?::|=|→|num|time) ",
    "a number of its own": r"\b(?:data|entity|run|start|end|decide|effect|part) num\b",
    # Asking about a rule, asking for one.
    "wonders": r"\bwonder\b|\b(?:effect|x|read) i ask ",
    "asks about a part": rf"^(?:polite )*(?:ask|be|wonder|can) .*\b(?:{_STORED}|all unit|often|always)\b",
    "wish": r"\bwish\b",
    "passive question": r"^(?:polite )*can (?:the |i |some |all ).*\?",
}
