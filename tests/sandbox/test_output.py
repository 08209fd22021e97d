"""What is kept of a command's output: all of it, or its beginning and its end."""

from __future__ import annotations

from laneway.sandbox.output import Output, Stream

MOST = 1000


def output(stdout: bytes, stderr: bytes = b"", pieces: int = 7) -> Output:
    """Both streams after they were given these bytes in small pieces."""
    made = Output(MOST, 10**9, lambda: None)
    for stream, told in ((made.stdout, stdout), (made.stderr, stderr)):
        for start in range(0, len(told), pieces):
            stream.add(told[start : start + pieces])
    return made


def test_little_is_kept_whole() -> None:
    assert output(b"a" * 600, b"b" * 400).texts() == ("a" * 600, "b" * 400, 0)
    assert output(b"\xff\x00ok").texts()[0] == "�\x00ok"


def test_of_much_the_beginning_and_the_end_are_kept_and_no_character_is_cut() -> None:
    stdout, stderr, left_out = output(b"first" + b"x" * 5000 + b"last", pieces=64).texts()
    assert stdout.startswith("firstx")
    assert stdout.endswith("xlast")
    assert left_out == 5009 - MOST
    assert f"[… {left_out:,} bytes left out …]" in stdout
    assert stderr == ""
    assert "�" not in output("ä".encode() * 5000, pieces=3).texts()[0]


def test_the_shorter_stream_is_not_pushed_out_by_the_longer_one_and_two_long_ones_share() -> None:
    stdout, stderr, left_out = output(b"x" * 50_000, b"the reason").texts()
    assert stderr == "the reason"
    assert len(stdout) < MOST + 60
    assert left_out == 50_000 - (MOST - 10)
    stdout, stderr, left_out = output(b"a" * 5000, b"b" * 5000, pieces=1000).texts()
    # The note about what is left out has one `b` of its own.
    assert (stdout.count("a"), stderr.count("b"), left_out) == (MOST // 2, MOST // 2 + 1, 10_000 - MOST)


def test_what_is_kept_does_not_grow_with_what_is_written() -> None:
    stream = Stream(MOST)
    for _ in range(10_000):
        stream.add(b"x" * 100)
    assert stream.total == 1_000_000
    assert len(stream._head) + stream._tail_bytes < 2 * MOST
