"""Jobs through Redis, end to end: a producer, a real Redis, a whole Laneway."""

from __future__ import annotations

from pathlib import Path

from tests.journeys.redis_queue import producing


async def test_a_job_in_the_list_has_its_result_in_the_seeds_shape(
    redis_url: str, database_url: str, tmp_path: Path
) -> None:
    async with producing(redis_url, database_url, tmp_path) as producer:
        await producer.push("job-1", "what is two and two?")
        result = await producer.result("job-1")
        assert result["version"] == "1.0"
        assert result["status"] == "completed"
        assert result["result_preview"]["kind"] == "text"
        assert set(result["metadata"]) == {
            "tool_calls", "tokens_used", "cache_hit", "cache_kind", "execution_time_ms", "llm_model",
        }  # fmt: skip
        assert result["metadata"]["llm_model"] == "scripted"
        assert result["metadata"]["tokens_used"] > 0
        original = await producer.home.app.artifacts.read(result["result_ref"])
        assert original.content.decode() == "You said: what is two and two?"
        assert 0 < await producer.redis.ttl("agent:results:job-1") <= 86_400
        await producer.settled()
