"""What a noun stands for: the rows of the table, the things a column names, or a value of one column."""

from __future__ import annotations

from dataclasses import dataclass

from laneway.lanes.pipeline.planner.columns import candidates, column_at
from laneway.lanes.pipeline.planner.lexicon import CONCEPTS, FILLERS, GENERIC, VAGUE
from laneway.lanes.pipeline.planner.phrasing import words
from laneway.lanes.pipeline.planner.reading import Reader
from laneway.lanes.pipeline.planner.refusal import Refused
from laneway.lanes.pipeline.planner.schema import Column, Schema, entity_word
from laneway.lanes.pipeline.planner.spelling import name_parts, name_words, plural, stem

_UNTOLD = words(
    """
    data table rows input sheet csv json t df x tbl result records
    """
)
"""Names of tables that say nothing about what their rows are."""

_SIGNS = """
flight: airline carrier departure arrival origin destination gate aircraft stop
trip: departure arrival origin destination driver distance
order: customer quantity total product shipped status
sale: amount revenue product region quantity store
purchase: amount buyer vendor quantity
transaction: amount account merchant balance
payment: amount method invoice
invoice: amount due paid customer
product: price stock sku category brand quantity rating
item: price stock sku category brand quantity
article: price stock sku title author
employee: salary department hire manager position job
worker: salary department hire
person: age email birth name height salary
user: email signup login active plan username
customer: email signup city phone segment loyalty
client: email city phone
member: email joined plan
subscriber: email plan
student: grade school gpa major score class
teacher: subject school class
patient: diagnosis doctor admission age ward
doctor: specialty hospital
city: population country area mayor
country: population capital area continent gdp
movie: director genre runtime release year rating
film: director genre runtime release year rating
book: author page isbn publisher genre
song: artist album duration genre
album: artist genre
game: platform genre publisher team
player: team position goal score age
team: league win point coach
match: team home away score
hotel: star room city price rating
room: hotel bed price floor
restaurant: cuisine city rating
house: bedroom sqft price address
apartment: bedroom rent price
property: bedroom price address
listing: price bedroom host
car: make model mileage year engine
vehicle: make model mileage year
ticket: priority assignee status subject
issue: priority assignee status label
task: due assignee priority done status
project: budget deadline owner
server: cpu memory host ip uptime
request: path status latency method
event: date venue
booking: guest checkin checkout room customer flight
reservation: guest checkin checkout table
shipment: weight carrier destination tracking warehouse
package: weight carrier destination tracking
delivery: driver address weight
store: region sale manager
branch: region manager
supplier: contact country
company: revenue industry employee founded headquarter
stock: ticker price volume
wine: grape vintage region
recipe: ingredient calorie
course: instructor credit
class: instructor credit
loan: interest principal borrower
account: balance owner
expense: amount category
job: salary company
meal: calorie
animal: species breed weight
dog: breed
cat: breed
device: battery model firmware
sensor: reading temperature
reading: sensor temperature humidity
measurement: sensor temperature
station: temperature rainfall
campaign: click impression budget spend
post: like author
comment: author post
review: rating author product
lead: source stage
deal: stage amount
visit: page duration
session: duration user
log: level message
error: message code level
""".strip()
_TYPICAL = {line.split(":")[0]: frozenset(line.split(":")[1].split()) for line in _SIGNS.split("\n")}
"""Words that columns of a table of such things are called by."""
_KIN = (
    words(
        """
    person employee worker user customer client member student patient player teacher doctor staff buyer
    """
    ),
    frozenset(["product", "item", "article", "good"]),
    frozenset(["movie", "film"]),
    frozenset(["flight", "trip"]),
    frozenset(["sale", "order", "purchase", "transaction"]),
    frozenset(["house", "home", "apartment", "property", "listing"]),
    frozenset(["car", "vehicle"]),
    frozenset(["ticket", "issue", "task"]),
    frozenset(["company", "business", "firm"]),
    frozenset(["customer", "client"]),
    frozenset(["package", "shipment", "parcel"]),
)


_NO_NOUNS = FILLERS | words(
    """
    of in on at by to from for with and or but not per than then as if only just under over above below between
    before after since until while during each any more less most least fewer some no none never always when where
    how why whose whom show list give get find sort order count average total sum minimum maximum mean median first
    last top bottom next rest else other others same such both either neither have has had having can could would
    should will may might must without within except excluding including about around near versus vs compared
    against sorted ordered grouped plus minus times yes less this highest lowest
    """
)
"""Words that never name what the rows are."""


@dataclass(frozen=True)
class Noun:
    """What the noun stands for (rows, things of a column), and whether it says more than one."""

    role: str
    plural: bool
    column: Column | None = None


def noun_at(reader: Reader, schema: Schema) -> tuple[Noun, int] | None:
    """The noun that comes next and how many tokens it is; None if no noun comes next, or one of other tables."""
    word = reader.word()
    token = reader.token()
    if token is None or token.kind != "word":
        return None
    single = stem(word)
    if single in GENERIC and single not in schema.words:
        return Noun("rows", plural(word) or word in ("data", "dataset", "table", "list")), 1
    size = _table_name(reader, schema)
    if size:
        return Noun("rows", plural(reader.word(size - 1))), size
    found, size = column_at(reader, schema)
    if found and size:
        return _column_noun(reader, schema, found, size)
    told = single in row_nouns(schema) or fits(single, schema)
    if word in VAGUE | FILLERS or (word in _NO_NOUNS and not told) or not word.isalpha() or _foreign(single, schema):
        return None
    if not plural(word) and not told and not _singled_out(reader):
        return None
    return Noun("rows", plural(word)), 1


def _singled_out(reader: Reader) -> bool:
    """Whether the word before makes a singular likely: `cheapest laptop`, `which laptop`."""
    before = reader.tokens[reader.at - 1].text if reader.at else ""
    if reader.memo.get("superlative"):
        return True
    return before.endswith("est") or before in ("expensive", "recent", "rated", "paid", "popular", "which", "selling")


def _table_name(reader: Reader, schema: Schema) -> int:
    words = name_words(schema.name)[0]
    if not words or schema.name.lower() in _UNTOLD:
        return 0
    if all(stem(reader.word(i)) == word for i, word in enumerate(words)):
        return len(words)
    return 1 if _kin(stem(reader.word()), words[-1]) else 0


def _column_noun(reader: Reader, schema: Schema, found: list[Column], size: int) -> tuple[Noun, int] | None:
    """A noun that names a column: the things it names, or the rows when each row is another of them."""
    last = reader.word(size - 1)
    single = stem(last)
    keys = [c for c in found if c.unique and (c.kind == "text" or c.identifies) and entity_word(c) == single]
    if size == 1 and (keys or (single in row_nouns(schema) and not _exact_column(single, found))):
        return Noun("rows", plural(last)), size
    if size == 1 and fits(single, schema) and not any(_names(column, single) for column in found):
        return Noun("rows", plural(last)), size
    if len(found) > 1:
        raise Refused(
            f"`{last}` may be {' or '.join(column.name for column in found)}.",
            f"Name one: {found[0].name}, for example.",
        )
    return Noun("column", plural(last), found[0]), size


def _names(column: Column, word: str) -> bool:
    """Whether the column names such things, or is called just so."""
    return column.words == (word,) or (not column.measure and _kin(word, entity_word(column)))


def _exact_column(word: str, found: list[Column]) -> bool:
    return any(column.words == (word,) and not column.unique for column in found)


def row_nouns(schema: Schema) -> frozenset[str]:
    """What this table's rows are most likely called; empty if nothing tells."""
    if "row nouns" not in schema.memo:
        schema.memo["row nouns"] = _row_nouns(schema)
    found: frozenset[str] = schema.memo["row nouns"]
    return found


def _row_nouns(schema: Schema) -> frozenset[str]:
    words, parts = name_words(schema.name)[0], name_parts(schema.name)
    if words and schema.name.lower() not in _UNTOLD and (plural(parts[-1]) or words[-1] in _TYPICAL):
        return frozenset((words[-1],))
    keys = {entity_word(column) for column in schema.columns if column.unique and column.identifies} - {""}
    return frozenset(keys)


def fits(word: str, schema: Schema) -> bool:
    """Whether a table of such things usually has columns like these."""
    return any(sign in schema.words or candidates((sign,), schema) for sign in _TYPICAL.get(word, ()))


def known_noun(reader: Reader, schema: Schema) -> tuple[Noun, int] | None:
    """The noun that comes next, if the table itself tells that it means its rows; Refused if it is a value as well."""
    word = stem(reader.word())
    read = noun_at(reader, schema) if word and word not in VAGUE else None
    if read is None or read[0].role != "rows":
        return None
    if word in schema.singulars and word not in GENERIC:
        own = word in row_nouns(schema)
        if not own or read[1] > 1:
            return None
        raise Refused(f"`{reader.word()}` may be the rows or a value of a column.", "Say `rows`, or name the column.")
    told = (
        word in GENERIC
        or word in row_nouns(schema)
        or fits(word, schema)
        or read[1] > 1
        or bool(column_at(reader, schema)[0])
    )
    return read if told or any(_kin(word, name) for name in row_nouns(schema)) else None


def _foreign(word: str, schema: Schema) -> bool:
    """Whether the rows are known to be something else."""
    own = row_nouns(schema)
    if any(word == name or _kin(word, name) for name in own):
        return False
    if word in _TYPICAL:
        return not fits(word, schema)
    return bool(own) or any(fits_well(name, schema) for name in _TYPICAL)


def fits_well(word: str, schema: Schema) -> bool:
    """Whether three of the words such a table uses are there, so that its rows are hardly anything else."""
    return sum(1 for sign in _TYPICAL[word] if sign in schema.words) >= 3


def _kin(word: str, other: str) -> bool:
    if word == other:
        return True
    if any(word in family and other in family for family in _KIN):
        return True
    return not CONCEPTS.get(word, frozenset()).isdisjoint(CONCEPTS.get(other, frozenset()))
