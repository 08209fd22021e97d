"""People: who may talk to us and from where, who has knocked, and the owner's word on each of them."""

from __future__ import annotations

import re
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from laneway.domain.conversation import Role
from laneway.domain.people import LONGEST_NAME, cleaned, full_address
from laneway.errors import BadInput
from laneway.store import notices, pairings, people, strangers
from laneway.web.gateway import Here, Me
from laneway.web.shapes import Listing, Moment, Page, Shape, paged, shaped

router = APIRouter(tags=["people"])


class AddressShape(Shape):
    address: str
    created_at: Moment
    seen_at: Moment


class PersonShape(Shape):
    id: UUID
    role: Role
    name: str
    host_mode: bool
    created_at: Moment
    blocked_at: Moment | None
    seen_at: Moment | None
    addresses: list[AddressShape]


class StrangerShape(Shape):
    address: str
    name: str
    knocks: int
    tries: int
    told_at: Moment | None
    first_at: Moment
    last_at: Moment
    number: int


class PairingShape(Shape):
    code: str = Field(description="Shown here and never again.")
    role: Role
    name: str
    expires_at: Moment


class ForgottenShape(Shape):
    address: str


class PeopleListing(Listing):
    role: Role | None = Field(None, description="Only with this role.")
    called: str | None = Field(None, max_length=200, description="Only with this id, name or address.")
    before: UUID | None = Field(None, description="Only older than this one.")


class StrangerListing(Listing):
    before: int | None = Field(None, ge=0, le=2**53, description="Only with a smaller `number`.")


class _Given(BaseModel):
    model_config = ConfigDict(extra="forbid")


class PairingPosted(_Given):
    role: Role = Role.OWNER
    name: str | None = Field(None, max_length=LONGEST_NAME, description="What an operator or customer is called.")


class AllowPosted(_Given):
    address: str = Field(max_length=200, description="channel:address, like telegram:123456.")
    role: Role
    name: str | None = Field(None, max_length=LONGEST_NAME, description="Of an operator known by it: one more address.")


class RolePosted(_Given):
    role: Role


class NoticesPlace(_Given):
    place: str | None = Field(max_length=300, description="A channel, or channel/thread; null: where you wrote last.")


@router.get("/people", summary="List people with their roles and addresses, newest first")
async def listed(here: Here, which: Annotated[PeopleListing, Query()]) -> Page[PersonShape]:
    async with here.app.db.transaction() as tx:
        found = await people.page(
            tx, role=which.role, called=_spelled(which.called), limit=which.one_more, before=which.before
        )
    return paged(PersonShape, found, which)


@router.get("/people/strangers", summary="List who knocked and was not let in, the last one first")
async def knocking(here: Here, which: Annotated[StrangerListing, Query()]) -> Page[StrangerShape]:
    """Nothing of what they wrote is kept."""
    async with here.app.db.transaction() as tx:
        found = await strangers.page(tx, limit=which.one_more, before=which.before)
    items = shaped(StrangerShape, found[: which.limit])
    return Page(items=items, next=items[-1].number if len(found) > which.limit else None)


@router.get("/people/notices", summary="Where the owner is told and asked")
async def notices_place(here: Here) -> NoticesPlace:
    """Null, if there is nowhere yet."""
    async with here.app.db.transaction() as tx:
        return NoticesPlace(place=await notices.place(tx, here.app.pulled))


@router.put("/people/notices", summary="Choose where the owner is told and asked")
async def choose_notices_place(here: Here, given: NoticesPlace) -> NoticesPlace:
    """Until one is chosen, it is the thread that the owner wrote in last, as a person and not by a program."""
    async with here.app.db.transaction() as tx:
        await notices.choose(tx, given.place, here.app.pulled)
        return NoticesPlace(place=await notices.place(tx, here.app.pulled))


@router.post("/people/pairings", status_code=201, summary="Make a pairing code")
async def pair(here: Here, me: Me, given: PairingPosted) -> PairingShape:
    """Whoever sends the code to a channel within the hour is known from then on, with this role."""
    if given.role is Role.OWNER and given.name:
        raise BadInput("The owner has a name already.", hint="Leave `name` out.")
    async with here.app.db.transaction() as tx:
        made, code = await pairings.make(tx, given.role, _named(given.name) or "", me.id)
    return PairingShape(code=code, role=made.role, name=made.name, expires_at=made.expires_at)


@router.post("/people/allowed", summary="Let an address in, with a role")
async def allow(here: Here, given: AllowPosted) -> PersonShape:
    if given.role is Role.OWNER and given.name:
        raise BadInput("The owner has a name already.", hint="Leave `name` out.")
    address = full_address(given.address)
    async with here.app.db.transaction() as tx:
        return PersonShape.model_validate(await people.allow(tx, address, given.role, _named(given.name)))


@router.post("/people/{person_id}/block", summary="Take nothing from somebody any more")
async def block(here: Here, me: Me, person_id: UUID) -> PersonShape:
    """What was being done for them is stopped, and nobody tells them."""
    async with here.app.db.transaction() as tx:
        return PersonShape.model_validate(await people.block(tx, person_id, me))


@router.post("/people/{person_id}/unblock", summary="Take messages from somebody again")
async def unblock(here: Here, me: Me, person_id: UUID) -> PersonShape:
    async with here.app.db.transaction() as tx:
        return PersonShape.model_validate(await people.unblock(tx, person_id, me))


@router.put("/people/{person_id}/role", summary="Give somebody another role")
async def role(here: Here, me: Me, person_id: UUID, given: RolePosted) -> PersonShape:
    """A customer who is promoted is somebody new from then on: the owner's world and theirs share nothing."""
    async with here.app.db.transaction() as tx:
        return PersonShape.model_validate(await people.set_role(tx, person_id, given.role, me))


@router.delete("/people/addresses", summary="Forget an address")
async def forget(here: Here, me: Me, address: Annotated[str, Query(max_length=200)]) -> ForgottenShape:
    """Whoever writes from it is a stranger again; what was said stays."""
    given = full_address(address)
    async with here.app.db.transaction() as tx:
        await people.forget(tx, given, me)
    return ForgottenShape(address=given)


def _spelled(called: str | None) -> str | None:
    """An address in the spelling it is stored in; ids and names as they are."""
    return full_address(called) if called and re.match(r"[a-z_]+:\S", called) else called


def _named(name: str | None) -> str | None:
    """The name as it is stored, or BadInput if nothing of it can be seen."""
    if name is None:
        return None
    found = cleaned(name, "")
    if not found:
        raise BadInput("`name` is empty.", hint="Leave it out, or give one.")
    return found
