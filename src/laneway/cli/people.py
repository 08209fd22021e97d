"""`laneway people`: who may talk to Laneway, from which addresses, and who has knocked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from laneway.cli.connection import Before, Json, Limit, connect
from laneway.cli.printing import local, more, plain, print_json, print_table
from laneway.errors import BadInput, NotFound

if TYPE_CHECKING:
    from laneway.client import Client

app = typer.Typer(help="See who may talk here, pair devices, let people in.",
                  invoke_without_command=True)  # fmt: skip

Who = Annotated[str, typer.Argument(help="Id, name or address (like telegram:123456) of somebody.")]
Address = Annotated[str, typer.Argument(help="channel:address, like telegram:123456 or whatsapp:4915112345678.")]
OfRole = Annotated[str | None, typer.Option("--role", help="Only owner, operator or customer.")]
Name = Annotated[str | None, typer.Option(help="What they are called; of an operator already known, one more address.")]
Strangers = Annotated[bool, typer.Option("--strangers", help="Those who knocked and were not let in.")]


@app.callback()
def people(
    context: typer.Context,
    strangers: Strangers = False,
    role: OfRole = None,
    limit: Limit = 50,
    before: Before = None,
    as_json: Json = False,
) -> None:
    """List people, newest first, or with --strangers those who knocked; the commands below are for one of them."""
    if context.invoked_subcommand is None:
        _list(strangers, role, limit, before, as_json)


@app.command("list")
def list_people(
    strangers: Strangers = False, role: OfRole = None, limit: Limit = 50, before: Before = None, as_json: Json = False
) -> None:
    """List people, newest first, or with --strangers those who knocked."""
    _list(strangers, role, limit, before, as_json)


@app.command()
def pair(
    role: Annotated[str, typer.Option(help="Who will be known by it: owner, operator or customer.")] = "owner",
    name: Name = None,
    as_json: Json = False,
) -> None:
    """Make a code; whoever sends it to the bot within the hour is known from then on."""
    with connect() as client:
        made = client.pair(role, name)
    if as_json:
        print_json(made)
        return
    whose = "yours" if role == "owner" else plain(made["name"] or "theirs")
    known = "as the owner" if role == "owner" else f"as {'an' if role == 'operator' else 'a'} {role}"
    print(made["code"])
    print(f"Send it to the bot from the device that is {whose}, in a private chat. It is known {known} then.")
    print(f"Good until {local(made['expires_at'])}, for one device; five wrong tries end it.")


@app.command()
def allow(
    address: Address,
    role: Annotated[str, typer.Option(help="owner, operator or customer.")],
    name: Name = None,
    as_json: Json = False,
) -> None:
    """Let an address in without a code."""
    with connect() as client:
        _say(client.allow(address, role, name), "{name} is let in as {role}, from {addresses}.", as_json)


@app.command()
def block(who: Who, as_json: Json = False) -> None:
    """Take nothing from somebody any more; what was being done for them is stopped."""
    with connect() as client:
        _say(client.block(_called(client, who)["id"]), "{name} is blocked.", as_json)


@app.command()
def unblock(who: Who, as_json: Json = False) -> None:
    """Take messages from somebody again."""
    with connect() as client:
        _say(client.unblock(_called(client, who)["id"]), "{name} is no longer blocked.", as_json)


@app.command()
def role(
    who: Who, role: Annotated[str, typer.Argument(help="owner, operator or customer.")], as_json: Json = False
) -> None:
    """Give somebody another role; a customer who is promoted begins anew."""
    with connect() as client:
        _say(client.set_role(_called(client, who)["id"], role), "{name} has the role {role}.", as_json)


@app.command()
def forget(address: Address, as_json: Json = False) -> None:
    """Forget an address: whoever writes from it is a stranger again."""
    with connect() as client:
        forgotten = client.forget(address)
    if as_json:
        print_json(forgotten)
    else:
        print(f"{plain(forgotten['address'])} is nobody's any more.")


@app.command()
def notices(
    place: Annotated[str | None, typer.Argument(help="A channel, like telegram, or channel/thread.")] = None,
    last_used: Annotated[bool, typer.Option("--last-used", help="Wherever you wrote last, as at first.")] = False,
    as_json: Json = False,
) -> None:
    """Show or choose the one place where you are told and asked."""
    with connect() as client:
        told = client.notices_place(**({"place": place} if place or last_used else {}))
    if as_json:
        print_json(told)
    else:
        print(f"You are told in {plain(told['place'])}." if told["place"] else "Nowhere: write to Laneway once.")


def _list(strangers: bool, role: str | None, limit: int, before: str | None, as_json: bool) -> None:
    with connect() as client:
        if strangers:
            page = client.strangers(limit=limit, before=before)
        else:
            page = client.people(role=role, limit=limit, before=before)
    if as_json:
        print_json(page)
    elif strangers:
        rows = [(one["address"], one["name"], one["knocks"], one["tries"], local(one["first_at"]),
                 local(one["last_at"])) for one in page["items"]]  # fmt: skip
        titles = ("ADDRESS", "NAME", "KNOCKS", "CODES TRIED", "FIRST", "LAST")
        print_table(titles, rows, empty="Nobody has knocked.")
        more(page, "laneway people --strangers")
    else:
        rows = [
            (one["id"], one["role"], one["name"], local(one["seen_at"]), "blocked" if one["blocked_at"] else "",
             _addresses(one)) for one in page["items"]
        ]  # fmt: skip
        titles = ("PERSON", "ROLE", "NAME", "LAST SEEN", "", "ADDRESSES")
        print_table(titles, rows, empty="There is nobody.", wrapped="ADDRESSES")
        more(page, "laneway people" + (f" --role {role}" if role else ""))


def _say(person: dict[str, Any], sentence: str, as_json: bool) -> None:
    if as_json:
        print_json(person)
    else:
        told = {"name": person["name"], "role": person["role"], "addresses": _addresses(person)}
        print(plain(sentence.format(**told)))


def _addresses(person: dict[str, Any]) -> str:
    return ", ".join(one["address"] for one in person["addresses"])


def _called(client: Client, who: str) -> dict[str, Any]:
    """The one person with this id, name or address."""
    found: list[dict[str, Any]] = client.people(called=who, limit=2)["items"]
    if not found:
        raise NotFound(f"Nobody is called {who[:80]}.", hint="`laneway people` lists them.")
    if len(found) > 1:
        raise BadInput(f"Several people are called {who[:80]}.", hint="Name one by id or address.")
    return found[0]
