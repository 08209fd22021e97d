"""Jobs from Redis and their results back into it, for programs that speak to a queue and not to a person.

`job_message.py` reads what a producer wrote; `lists.py` and `streams.py` take it from Redis and let go of it once it is
committed; `reader.py` is the loop around them; `taking.py` writes it down as somebody; `results.py` says what a result
looks like and `publishing.py` puts it into Redis, once; `burying.py` puts away what is refused;
`keys.py` says of which type our keys are. `channel.py` puts it all together.

Nothing in here imports the client `redis` before there is a `REDIS_URL`.
"""
