"""Small words: contractions, numbers, months, and words that say nothing about a table."""

from __future__ import annotations

from laneway.lanes.pipeline.planner.phrasing import pairs, phrases, words

CONTRACTIONS = pairs(
    "what's=what is; who's=who is; where's=where is; that's=that is; there's=there is; i'd=i would; i'm=i am;"
    "let's=let us; can't=can not; won't=will not; who're=who are; they're=they are; it's=it is; i've=i have;"
    "we've=we have; we're=we are; i'll=i will; who've=who have; they've=they have; you're=you are; which's=which is;"
    "isnt=is not; arent=are not; dont=do not; doesnt=does not; didnt=did not; wasnt=was not; werent=were not;"
    "havent=have not; hasnt=has not; hadnt=had not; whats=what is; whos=who is; thats=that is; im=i am; cant=can not;"
    "ive=i have; wont=will not; theres=there is; gimme=give me; wanna=want to; pls=please; plz=please; w/o=without;"
    "w/=with"
)
FILLERS = words(
    "the a an all of me please my our us that which who are is were was be been there do does did it its them they"
    " their these those currently now here you i we so had has have having just only also too as yet already still"
    " respectively actually am kindly any ok okay hey hi hello thanks whatsoever altogether"
    " though ever come comes came coming got get gets getting went go goes going happen happened happens occur occurred"
    " occurs appear appears appeared"
)
"""Words that change no table where they stand alone; never a negation, a number or a comparison."""
GENERIC = words(
    "row record entry result line one thing item element observation data dataset table list everything everyone"
    " everybody anyone anything anybody stuff whoever whatever place catalogue catalog register roster database"
    " assortment"
)
"""Nouns for the rows of any table."""
VAGUE = words(
    "cheap expensive recent new old young good bad great nice popular big small large high low long short few several"
    " many some other similar nearby interesting important weird unusual outlier typical common rare late early fast"
    " slow affordable reasonable decent modern fresh heavy light tall busy hot cold warm rich poor strong weak close"
    " far favorite favourite relevant related similar suspicious odd normal abnormal valid invalid"
)
"""Adjectives that draw no line: what is cheap to one is dear to another."""
WORD_NUMBERS = {
    word: number
    for number, word in enumerate(
        phrases(
            """
            zero | one | two | three | four | five | six | seven | eight | nine | ten | eleven | twelve |
            thirteen | fourteen | fifteen | sixteen | seventeen | eighteen | nineteen | twenty
            """
        )
    )
} | {word: 10 * n for n, word in enumerate(["thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"], 3)}
SCALES = {
    "hundred": 100, "thousand": 1000, "k": 1000, "million": 10**6, "millions": 10**6, "m": 10**6, "mn": 10**6,
    "mio": 10**6, "mil": 10**6, "billion": 10**9, "bn": 10**9, "b": 10**9,
}  # fmt: skip
ORDINALS = {
    word: number
    for number, names in enumerate(
        ["first 1st", "second 2nd", "third 3rd", "fourth 4th", "fifth 5th", "sixth 6th", "seventh 7th",
        "eighth 8th", "ninth 9th", "tenth 10th"], 1,
    )
    for word in names.split()
}  # fmt: skip
MONTHS = {
    name: number
    for number, names in enumerate(
        ["january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
        "september sep sept", "october oct", "november nov", "december dec"], 1,
    )
    for name in names.split()
}  # fmt: skip
