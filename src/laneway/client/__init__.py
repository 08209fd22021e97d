"""The Python client of the HTTP API.

    with Client("http://127.0.0.1:8600", key) as laneway:
        receipt = laneway.send("How much disk space is left?")
        for event in laneway.events(job=receipt["job_id"], since="start"):
            ...

Answers are the JSON of the API as dictionaries; errors are the classes of `laneway.errors`.
"""

from laneway.client.calls import Client, File
from laneway.client.wire import ServerEvent, parsed, problem_of

__all__ = ["Client", "File", "ServerEvent", "parsed", "problem_of"]
