"""What the doctor says of the queue in Redis."""

from __future__ import annotations

from pathlib import Path

import redis
from pydantic import SecretStr

from laneway.cli.checks import Finding
from laneway.cli.redis_checks import lasting, owners, queue, version, waiting
from laneway.settings import Settings
from tests.cli.processes import free_port


async def found(home: Path, url: str | None, **more: object) -> dict[str, Finding]:
    address = None if url is None else SecretStr(url)
    settings = Settings.model_validate({"home": home, "redis_url": address, **more})
    return {finding.check: finding async for finding in queue(settings)}


async def test_a_redis_that_answers_is_looked_through(tmp_path: Path, redis_url: str) -> None:
    with redis.Redis.from_url(redis_url) as client:
        client.rpush("agent:jobs", "one", "two")
        client.rpush("agent:dead", "three")
    told = await found(tmp_path, redis_url, redis_owners={"ann": "Ann"})
    states = {check: one.state for check, one in told.items()}
    assert states == {**states, "redis": "ok", "redis keeps": "warn", "redis jobs": "warn", "redis owners": "ok"}
    assert "2 jobs wait in agent:jobs, 1 were refused" in told["redis jobs"].says
    assert await found(tmp_path, None) == {}


async def test_a_redis_that_is_not_there_is_named_without_its_password(tmp_path: Path) -> None:
    port = free_port()
    told = (await found(tmp_path, f"redis://:sesame@127.0.0.1:{port}/0"))["redis"]
    assert told.state == "fail"
    assert f"127.0.0.1:{port} does not answer" in told.says
    assert "sesame" not in told.says + told.fix
    assert (await found(tmp_path, "localhost"))["redis"].state == "fail"


def test_each_finding_tells_what_is_wrong() -> None:
    states = [version("h:1", "6.0.16"), version("h:1", "6.2.0"), lasting(appends=True, saves=False),
              waiting("agent:jobs", 5, 0), waiting("agent:jobs", 5000, 0), owners(0)]  # fmt: skip
    assert [one.state for one in states] == ["fail", "ok", "ok", "ok", "warn", "ok"]
    assert "snapshot" in lasting(appends=False, saves=True).says
    assert "nothing" in lasting(appends=False, saves=False).says


async def test_keys_of_another_type_are_named_with_the_type_they_have_and_the_one_they_need(
    tmp_path: Path, redis_url: str
) -> None:
    with redis.Redis.from_url(redis_url) as client:
        client.set("agent:jobs", "x")
        client.rpush("agent:stream", "x")
        client.hset("agent:dead", "x", "y")
    told = await found(tmp_path, redis_url, redis_stream="agent:stream")
    assert (told["redis"].state, told["redis jobs"].state) == ("ok", "fail")
    for says in ("`agent:jobs` is a string where a list must be.", "`agent:stream` is a list where a stream must be.",
                 "`agent:dead` is a hash"):  # fmt: skip
        assert says in told["redis jobs"].says
    assert "RENAME" in told["redis jobs"].fix
