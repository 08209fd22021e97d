"""Signs in a clause: patterns over the groups of its words, each for one thing that tells a lasting change from a deed.

A clause is a line of group names (`lane_tags`), each followed by a blank. `CONTEXT` settles what a word is from its
neighbours; `SIGNS` are looked for in one view of a clause: the whole, its main part, or its condition.
"""

from __future__ import annotations

import re

VERB = "(?:edit|store|halt|undo|clone|effect|tell|habit|read|draft|shape|start|end|decide|dry|tries|cease|watch|leave)"
ACT = "(?:edit|store|halt|undo|clone|effect|tell|habit|end|start|decide|shape)"
_PART = "(?:part|detail)"
_NOUN = "(?:part|detail|thing|run|entity|data|value)"
FILL = "(?:polite|and|now|later|defer|once|too|,|:|do)"
_DET = "(?:the|here|some|fresh|all|named|of|in)"
_FEW = r"(?:(?!and |, |rel )\S+ ){0,4}?"
_REPEAT = "(?:often |all (?:num |over )?(?:x )?units? |on units |all num (?:of |units? ))"
_FIRST = rf"^(?:(?!{VERB} )\S+ )*"
_OPEN = rf"^(?:{FILL} )*(?:may )?(?:polite )*(?:to )?"
_START = r"(^|[.,;:!?→] |and |polite |may |must |dont |i )"

CONTEXT = [
    (re.compile(pattern), meant)
    for pattern, meant in (
        (rf"{_START}get (?!\w+ed )", r"\1read "),
        (r"\bget ", "must "),
        (rf"{_START}do (?=the |here |all |some |it |num |that )", r"\1start "),
        (r"(^|[.,;:!?→] |and )has (?=(?:the |here |all |some |x |data |thing |it |part )[^?]*$)", r"\1edit "),
        (r"\b(polite|may) has ", r"\1 edit "),
        (r"\bwish (?:it )?if ", "wish "),
        (r"\bbe ((?:\w+ed )?)done ", r"be \1x "),
        (r"\b(the|some|all|fresh|of) done (?=x |entity |data |thing |run )", r"\1 x "),
        (r"\b(?:instead|dont) (?:x )?once ", "later "),
        (r"\bif (?=[,.;!?] |$)", "ask "),
        (r"(^|[.;] )(?:tries|dry) (?=be |did |must |reads |x be )", r"\1run "),
        (r"(^|[.;:!] |, |and |polite |may )x (?=(?:the|it|all|some|here|fresh|i) )", r"\1effect "),
        (r"\b(it|i|name) (\w+ed|done) later ", r"\1 \2 past "),
        (r"^edit i (?=some |the )", "read "),
        # A relative clause says which ones are meant; a reported one says what is to be told.
        (
            r"\b(tell (?:(?!and |, )\S+ ){0,6}?|(?:effect|draft|read) (?:(?!and |, )\S+ ){0,9}?(?=telling ))"
            r"(?:that|telling) [^.?!;]*",
            r"\1reported ",
        ),
        (r"\b((?:tell|draft) (?:(?!and |, )\S+ ){0,6}?): [^.?!;]*", r"\1reported "),
        (r"(^|[.;:!?] |, and |, |polite )who ", r"\1ask "),
        (
            r"\b(data|value|entity|part|detail|thing|run|x|name|it|all|fresh|some|i|units?|num|of|\w+ed|to|here) "
            r"(?:that|who) ",
            r"\1 rel ",
        ),
        (r"\bwho ", "ask "),
        (r"\bthat (?=(?:x )?(?:data|run) )", "here "),
        (r"\bthat ", "it "),
        (r"\bfresh (?=data )", "some "),
        (rf"\bbe (?:too )?{VERB} ", "be x "),
        (r"^((?:polite |may )*)unit (?=some |fresh |all |the |data |thing |entity )", r"\1effect "),
        (r"\b(may|to) (edit|effect|start|halt|read|store|tell|end|undo|clone|leave)ing ", r"\1 \2 "),
        (r"\bnum am ", "time "),
        (r"\bover (?=[,.;!?] |$)", "here "),
        (r"\balways ((?:\S+ )*)again ", r"always \1later "),
        (r"\bturn ((?:\S+ ){1,5}?)(?:on|off) (?=$|[,.?!] |and |defer |later |until |once |now |in |on )", r"halt \1"),
        (r"\bturn ", "edit "),
        (r"\b(?:dont (?:x )?(?:edit|store)(?:ing)?|instead (?:edit|store)ing) ", "unsaved "),
        # A time word between article and noun is a name: "the nightly sync", "our Monday mail", "weekly totals".
        (
            rf"\b(the|here|of|in) (x )?(?:often|unit|defer) (?=(?:x|{_NOUN}|effect|start|read|end|all|\w+ing) )",
            r"\1 \2named ",
        ),
        (r"(^|read |shape |over |of |, |and |i )often (?=(?:x )?(?:data|value|entity) )", r"\1named "),
        # The last of several nouns says what is meant: "the trigger column" is a column, "the sort step" a step.
        (
            rf"\b({_DET}) ((?:x |named |quoted )?)(?:(?:{VERB}|{_NOUN}|unit) ){{1,2}}(?=(?:data|{_PART}) )",
            r"\1 \2",
        ),
        (r"\b(?:part|detail|thing|run|entity|unit|named|value) (?=data )", ""),
        (r"\b(?:data|value|thing|run|entity|part|detail) (?=(?:part|detail) )", ""),
        (rf"(^|[.;] )(?:{VERB}) (?=(?:part|detail) (?:must|:|be|=|→|instead) )", r"\1"),
        # A verb after an article is a noun: "the alert", "a backup", "the stock check".
        (rf"\b({_DET})( x| unit| often| thing| entity)? (?:effect|watch|tell)(?= )", r"\1\2 thing"),
        (rf"\b({_DET})( x| unit| often| thing| entity)? (?:start|dry|tries|end|decide) ", r"\1\2 run "),
        (rf"\b({_DET}) (?:read|shape|draft)(?= )", r"\1 data"),
        (r"\b(the|here|some|fresh|all)( x| unit| often)? (?:store|edit|undo)(?= )", r"\1\2 part"),
        (r"\b(?:part|detail|thing|named) (?=run )", ""),
        (r"\bpast num units? ", "window "),
        (r"\bnext (?=num )", "until "),
        (r"\bhere (?=unit )", "now "),
        (r"\b(part|thing|entity|run|data|x) name ", r"\1 id "),
        (r"\b(run|entity|thing|start|end|decide) num ", r"\1 id "),
        (r"\bin num units? |\bin some units? ", "defer "),
    )
]

SIGNS: dict[str, tuple[str, str]] = {
    # What the time words govern.
    "later": ("plain", r"\blater\b"),
    "repeats": ("plain", rf"\b{_REPEAT}"),
    "repeats in the data": (
        "plain",
        rf"\b(?:past|window|did|done|foreach|has \w+ed) .*{_REPEAT}|{_REPEAT}.*\b(?:past|window|did|done)\b"
        rf"|\b(?<!num )(?:of|foreach) (?:the )?(?:num )?(?:of )?{_REPEAT}|\bwho\b|^{_REPEAT}(?:data|x data|entity)",
    ),
    "whenever": ("line", r"\bwhenever\b"),
    "always do": (
        "plain",
        rf"(?:^|{FILL} |, |: )always (?:x )?{VERB}|\b(?:must|be|can) {_FEW}always |\balways (?:must|\w+ must)"
        rf"|\b(?:effect|edit|store|start|habit|read) {_FEW}always (?!past|did)|\balways {_FEW}(?:cease|later)",
    ),
    "each new": (
        "plain",
        r"\b(?:all|foreach|around|on|of) fresh "
        r"|^(?:polite )*fresh (?:(?!did |done |past )\S+ ){0,7}?(?:must|be|→|habit|effect|decide) ",
    ),
    "all must": (
        "plain",
        r"^(?:polite |, |later )*(?:all |some |fresh |entity |x |part |thing )(?:\S+ ){0,6}?must "
        r"|\bwish all (?:\S+ ){1,5}?(?:to be|must|\w+ed) ",
    ),
    "acts on what comes": ("plain", rf"\b{ACT} (?:(?!here|now|the)\S+ ){{0,3}}?fresh "),
    "stops doing": ("plain", r"\bcease (?:the |x |i )?(?:\w+ing|x|thing|effect|data)\b|\bcease $|\bcease \w+ing\b"),
    "limited": ("plain", r"\buntil\b"),
    "deferred": ("line", r"\bdefer\b"),
    "past": ("plain", r"\bpast\b|\bdid\b|\bdone\b|\bwindow\b|\bhas (?:already )?(?:x )?\w+ed\b"),
    # Once, not kept, now, these.
    "once": ("plain", r"\bonce\b"),
    "unsaved": ("line", r"\bunsaved\b|\bleave (?:\S+ ){0,3}(?:part|thing|named|it) (?:\S+ )?asis\b"),
    "dry": ("plain", rf"\bdry\b|{_OPEN}tries "),
    "now": ("plain", r"\bnow\b"),
    "here": ("plain", r"\bhere\b"),
    "one of them": ("line", r"\bid\b|\btitle\b"),
    # Condition.
    "condition": ("line", r"\bif\b"),
    "condition tied": ("condition", r"\b(?:already|now|here|past|did|done|window|id|title|name|once)\b|\bhas \w+ed\b"),
    "condition on any": (
        "condition",
        r"^(?:if|whenever) (?:of |in |to )?(?:some|fresh|all|entity|x (?:be|is)|thing|it) ",
    ),
    "condition on data": ("condition", r"\b(?:data|quoted)\b"),
    "condition past": (
        "condition",
        r"\bdid\b|\bdone\b|\bpast\b|\b(?:entity|x|run|thing|data|i|name|it) \w+ed\b|\bhas \w+ed\b",
    ),
    # The governing verb and what it works on.
    "edits a part": (
        "main",
        rf"{_FIRST}(?:edit|store|shape) (?:(?!and |, |rel |data |run )\S+ ){{0,5}}?part\b|{_FIRST}(?<=part ).*\bedit\b",
    ),
    "edits a detail": (
        "main",
        rf"{_FIRST}(?:edit|store|shape) (?:(?!and |, |rel |data |run )\S+ ){{0,5}}?detail\b",
    ),
    "edits a value": (
        "main",
        rf"{_FIRST}(?:edit|store|leave|shape) (?:(?!and |, |rel |part |run )\S+ ){{0,4}}?value\b",
    ),
    "works in a part": (
        "main",
        rf"{_FIRST}(?:edit|shape|leave) .*\b(?:to|in|of|around|on|off|x) (?:the |it |some |all )?"
        r"(?:x |quoted |entity )*(?:part|detail|thing) (?!in here|.*data)"
        rf"|^(?:polite )*in (?:the |it )?(?:x |quoted )*(?:part|detail|thing) .*\b(?:{VERB}|must)\b",
    ),
    "edits a thing": ("main", r"\b(?:edit|store|end) (?:the |i |all |x |some )*(?:named (?!run|data|x)|thing )"),
    "adds to a thing": (
        "main",
        r"\bedit (?:the |x |name |some |id |and )+(?:to|of|in|on) (?:the )?(?:named |x )?(?:thing|part|detail)\b",
    ),
    "edits data": (
        "main",
        rf"{_FIRST}(?:edit|shape|leave|store) (?:(?!and |, |rel |part )\S+ ){{0,4}}?(?:data|quoted|here (?!$))"
        r"|\bundo (?:the |here )?(?:data|shape)\b",
    ),
    "shapes": ("main", rf"{_OPEN}shape "),
    "halts": (
        "main",
        rf"\bhalt (?!here|(?:the |all )?run)(?:(?!and |, |here |run )\S+ ){{0,4}}?(?:{_PART}|thing|often|named|unit)\b",
    ),
    "halts something": ("main", r"\bhalt\b"),
    "undoes": (
        "main",
        rf"\bundo (?!the data|here){_FEW}(?:part|detail|past|thing|num|it|i \w+ed|i did)\b(?!.*\b(?:data|run|shape)\b)",
    ),
    "copies": ("main", rf"\bclone {_FEW}(?:part|detail|thing)\b"),
    "stores": ("main", r"\bstore\b"),
    "handles a run": (
        "main",
        rf"\b(?:halt|end|cease|start|decide|undo|edit|leave) {_FEW}(?:run|id)\b|{_OPEN}(?:start|decide|end) ",
    ),
    "habit": ("main", r"\bhabit\b"),
    "watches": ("main", rf"{_OPEN}watch "),
    "effect": ("main", r"\b(?:effect|tell)\b"),
    "asks how": ("main", rf"{_OPEN}(?:read|tell) (?:to )?(?:i )?(?:ask|wonder|if) "),
    "edits it": ("main", r"\b(?:edit|undo|halt) it\b"),
    "sets it": ("main", r"\bedit it (?:\S+ )?(?:num|time|often|leave|instead|later)\b"),
    "reads": ("main", rf"{_OPEN}(?:if .*, )?(?:read|draft|dry|tries|shape) "),
    "drafts": ("main", rf"{_OPEN}(?:draft|tell {_FEW}reported)"),
    "names a part": ("plain", r"\bpart\b"),
    "names a detail": ("plain", r"\bdetail\b"),
    "names data": ("plain", r"\bdata\b"),
    "names a value": ("plain", r"\bvalue\b"),
    "names a row": ("plain", r"\brel\b|\bforeach\b"),
    "setting": (
        "main",
        rf"^(?:polite )*(?:the )?(?:x |id )?{_PART} (?:\S+ )?(?::|=|→|num|time|instead|to|off|over|be (?:num|time|id)) "
        rf"|^(?:polite )*(?:fresh |some )(?:x )*{_PART} |^num {_PART} be ",
    ),
    "arrow": ("line", r" → "),
    "value for value": ("main", r"\binstead (?:of )?(?:the )?(?:num|time|often|units?|x|name|thing|data|value|i)\b"),
    "must": ("main", r"\bmust\b"),
    "must on a part": ("main", r"\b(?:part|detail|thing|named|it|time) (?:\S+ ){0,3}must\b"),
    "must on data": ("main", r"\b(?:data|here) (?:\S+ ){0,3}must\b|\bmust .*\bdata\b"),
    "wish": ("plain", r"\bwish\b"),
    "wonders": ("line", r"\bwonder\b"),
}
