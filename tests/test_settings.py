"""What the owner decides arrives, what is wrong is named, and no secret is ever shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from laneway.errors import SettingsError
from laneway.settings import Settings, described, variables
from laneway.settings.sources import SECRETS, keep_secrets, secret_names

SECRET = "sk-ant-do-not-show-me"


class Place:
    """A data directory and a current folder whose files decide."""

    def __init__(self, root: Path) -> None:
        self.home, self.here = root / "home", root / "here"
        self.home.mkdir()
        self.here.mkdir()

    def load(self, **environ: str) -> Settings:
        return Settings.load({"LANEWAY_HOME": str(self.home), **environ}, self.here)

    def refusal(self, **environ: str) -> str:
        with pytest.raises(SettingsError) as caught:
            self.load(**environ)
        return str(caught.value)

    def config(self, text: str) -> None:
        (self.home / "config.yaml").write_text(text, encoding="utf-8")

    def dotenv(self, text: str) -> None:
        (self.here / ".env").write_text(text, encoding="utf-8")


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_nothing_set_gives_the_defaults_and_null_takes_a_cap_away(place: Place) -> None:
    settings = place.load()
    assert (settings.host, settings.port, settings.budget_day_usd) == ("127.0.0.1", 8600, 5.0)
    assert settings.embedded
    assert place.load(LANEWAY_BUDGET_DAY_USD="null").budget_day_usd is None


def test_the_seeds_names_and_defaults_still_hold(place: Place) -> None:
    settings = place.load()
    assert (settings.message_history_limit, settings.approval_timeout_seconds) == (30, 3600)
    names = {"CLAUDE_MODEL": "m1", "HAIKU_MODEL": "m2", "DEFAULT_MODEL": "m3"}
    settings = place.load(**names, MESSAGE_HISTORY_LIMIT="5", APPROVAL_TIMEOUT_SECONDS="60")
    assert (settings.claude_model, settings.haiku_model, settings.default_model) == ("m1", "m2", "m3")
    assert (settings.message_history_limit, settings.approval_timeout_seconds) == (5, 60)


def test_the_environment_beats_both_env_files_and_they_beat_the_config_file(place: Place) -> None:
    place.config("port: 1\n")
    assert place.load().port == 1
    (place.home / ".env").write_text("LANEWAY_PORT=2\n")
    assert place.load().port == 2
    place.dotenv("LANEWAY_PORT=3\n")
    assert place.load().port == 3
    assert place.load(LANEWAY_PORT="4").port == 4


def test_an_empty_value_counts_as_not_set(place: Place) -> None:
    place.config("host: 10.0.0.1\n")
    settings = place.load(LANEWAY_HOST="", HAIKU_API_KEY="  ")
    assert settings.host == "10.0.0.1"
    assert settings.haiku_api_key is None


ENV_LINES = {
    "CLAUDE_MODEL=plain": "plain",
    "  export CLAUDE_MODEL = spaced  ": "spaced",
    "CLAUDE_MODEL=commented # why": "commented",
    "CLAUDE_MODEL=not#comment": "not#comment",
    'CLAUDE_MODEL="a # b"': "a # b",
    "CLAUDE_MODEL='single' # why": "single",
    "CLAUDE_MODEL='say \"x\"'": 'say "x"',
    "CLAUDE_MODEL=a=b": "a=b",
    "DJANGO_SETTINGS_MODULE=shop.settings\nSECRET_KEY=x\nCLAUDE_MODEL=unharmed": "unharmed",
}


def test_env_files_are_read_as_a_shell_would(place: Place) -> None:
    for line, value in ENV_LINES.items():
        place.dotenv(f"# a comment\n\n{line}\n")
        assert place.load().claude_model == value, line
    place.dotenv("\ufeffCLAUDE_MODEL=after-a-byte-order-mark\n")
    assert place.load().claude_model == "after-a-byte-order-mark"
    # The seed's own line has only a comment.
    place.dotenv("HAIKU_API_KEY=  # Optional, falls back to CLAUDE_CODE_OAUTH_TOKEN\n")
    assert place.load().haiku_api_key is None


def test_a_line_that_makes_no_sense_is_named_by_its_number_and_not_shown(place: Place) -> None:
    for line in ("CLAUDE_MODEL", 'CLAUDE_MODEL="open', "CLAUDE_MODEL='a' b", "two words=x"):
        place.dotenv(f"LANEWAY_PORT=1\n{line} {SECRET}\n")
        refusal = place.refusal()
        assert ("line 2" in refusal, SECRET in refusal) == (True, False), line


def test_the_data_directory_can_be_named_in_the_local_env_file(place: Place, tmp_path: Path) -> None:
    place.dotenv(f"LANEWAY_HOME={place.home}\n")
    place.config("port: 7\n")
    settings = Settings.load({}, place.here)
    assert (settings.home, settings.port) == (place.home, 7)


UNKNOWN = [
    ("config.yaml", "prot: 1\nhots: x\n", "prot", "port"),
    ("config.yaml", "prot: 1\nhots: x\n", "hots", "host"),
    ("config.yaml", "models:\n  classify:\n    modle: x\n", "models.classify.modle", "models.classify.model"),
    (".env", "LANEWAY_PROT=1\n", "LANEWAY_PROT", "LANEWAY_PORT"),
]


def test_every_unknown_key_is_refused_and_the_nearest_named(place: Place) -> None:
    assert "Did you mean `LANEWAY_BUDGET_DAY_USD`?" in place.refusal(LANEWAY_BUDGET_DAILY_USD="3")
    for file, text, unknown, nearest in UNKNOWN:
        (place.home / file).write_text(text)
        refusal = place.refusal()
        for said in (f"`{unknown}`", f"Did you mean `{nearest}`?", str(place.home / file)):
            assert said in refusal
        (place.home / file).unlink()


def test_variables_of_the_client_and_the_tests_are_not_settings(place: Place) -> None:
    place.load(LANEWAY_URL="http://example.test", LANEWAY_KEY="lw_x")
    place.load(LANEWAY_TEST_DATA="/data", LANEWAY_TEST_WITHOUT="tesseract")


WRONG = [
    ("LANEWAY_PORT", SECRET),
    ("LANEWAY_PORT", "70000"),
    ("LANEWAY_WORKERS", "0"),
    ("LANEWAY_LOG_LEVEL", "loud"),
    ("LANEWAY_ALLOW_UNKNOWN_PRICE", "perhaps"),
    ("LANEWAY_BUDGET_DAY_USD", "-1"),
    ("LANEWAY_BUDGET_DAY_USD", "nan"),
    ("LANEWAY_HOST", "null"),
    ("LANEWAY_ZONE", "Mars/Base"),
    ("LANEWAY_ALLOWED_HOSTS", "http://wiki.intern"),
    ("LANEWAY_ALLOWED_HOSTS", "a b"),
    ("LANEWAY_ALLOWED_HOSTS", "wiki.intern/path"),
]


def test_a_wrong_value_is_refused_under_the_name_it_was_given_and_not_repeated(place: Place) -> None:
    for name, text in WRONG:
        refusal = place.refusal(**{name: text})
        assert (name in refusal, SECRET in refusal) == (True, False), text
    refusal = place.refusal(LANEWAY_PORT="x", LANEWAY_WORKERS="y")
    assert "LANEWAY_PORT" in refusal, "all are named at once"
    assert "LANEWAY_WORKERS" in refusal
    assert place.load(LANEWAY_ZONE="Europe/Berlin").zone == "Europe/Berlin"


def test_a_broken_config_file_is_refused_without_quoting_it(place: Place) -> None:
    for text in (f"a: [1,\nkey: {SECRET}", f"a: b: {SECRET}", f"key: '{SECRET}"):
        place.config(text)
        refusal = place.refusal()
        assert ("line" in refusal, SECRET in refusal) == (True, False), text
    for text in ("- a\n- b\n", "just words\n"):
        place.config(text)
        assert "key: value" in place.refusal()


def test_a_secret_in_the_config_file_is_refused_and_sent_to_its_place(place: Place) -> None:
    for key in ("anthropic_api_key", "ANTHROPIC_API_KEY"):
        place.config(f"{key}: {SECRET}\n")
        refusal = place.refusal()
        assert ("ANTHROPIC_API_KEY" in refusal, ".env" in refusal, SECRET in refusal) == (True, True, False)


def test_secrets_are_not_in_what_settings_print(place: Place) -> None:
    settings = place.load(
        ANTHROPIC_API_KEY=SECRET, OPENAI_API_KEY=SECRET, CLAUDE_CODE_OAUTH_TOKEN=SECRET, HAIKU_API_KEY=SECRET,
        DATABASE_URL=f"postgresql://u:{SECRET}@h/d", REDIS_URL=f"redis://:{SECRET}@h",
    )  # fmt: skip
    assert SECRET not in repr(settings)
    assert SECRET not in str(settings)
    assert SECRET not in settings.model_dump_json()


def test_lists_come_from_yaml_lists_and_from_commas_and_folders_from_the_users_home(place: Place) -> None:
    assert place.load(LANEWAY_FALLBACK_MODELS="a:1, b:2 ,").fallback_models == ("a:1", "b:2")
    place.config("models:\n  fallback: [c:3, d:4]\n")
    assert place.load().fallback_models == ("c:3", "d:4")
    place.config("files: ~/shared\n")
    assert place.load().files == Path("~/shared").expanduser()


def test_a_file_that_cannot_be_read_is_a_clear_refusal(place: Place) -> None:
    (place.home / "config.yaml").write_bytes(b"port: \xff\xfe\n")
    assert str(place.home / "config.yaml") in place.refusal()
    (place.home / "config.yaml").unlink()
    (place.here / ".env").write_bytes(b"LANEWAY_PORT=\xff\n")
    assert str(place.here / ".env") in place.refusal()


def test_every_setting_has_one_name_in_the_environment_and_a_meaning() -> None:
    names = [env for _, _, _, env in described()]
    keys = [key for _, _, key, _ in described() if key]
    assert len(set(names)) == len(names)
    assert len(set(keys)) == len(keys)
    assert all((info.description or "").endswith(".") for _, info, _, _ in described())
    assert {name for name, *_ in described()} == set(Settings.model_fields) - {"home"}


MCP = """
tools:
  allowed_hosts: [wiki.intern, 10.0.0.0/8]
  mcp:
    tickets:
      command: tickets-mcp
      args: [--quiet]
      env: {TICKETS_TOKEN: "${TICKETS_TOKEN}", OTHER: written-out-secret}
    sky: {url: "https://sky.example/mcp", headers: {Authorization: "Bearer ${SKY_KEY}"}, trusted: true}
  openapi:
    pets: {document: pets.yaml, server: "https://pets.example/v1"}
"""


def test_servers_and_apis_are_named_in_the_config_file(place: Place) -> None:
    place.config(MCP)
    settings = place.load()
    assert settings.allowed_hosts == ("wiki.intern", "10.0.0.0/8")
    assert (settings.mcp["tickets"].command, settings.mcp["tickets"].args) == ("tickets-mcp", ("--quiet",))
    assert settings.mcp["sky"].trusted
    assert settings.openapi["pets"].server == "https://pets.example/v1"
    assert "written-out-secret" not in f"{settings!r} {settings.model_dump_json()}"


def test_servers_can_stand_in_the_environment_as_json(place: Place) -> None:
    settings = place.load(LANEWAY_MCP='{"a": {"command": "x"}}', LANEWAY_ALLOWED_HOSTS="a.intern:80, ::1")
    assert settings.mcp["a"].command == "x"
    assert settings.allowed_hosts == ("a.intern:80", "::1")
    assert "not valid JSON" in place.refusal(LANEWAY_MCP="{")


SERVERS = {
    "a: {comand: x}": "`a.comand`: there is no such key",
    "a: {command: x, url: 'http://x/'}": "give either `command` or `url`",
    "a: {}": "give either `command` or `url`",
    "a: {url: 'http://x/', args: [y]}": "`args` and `env` go with `command`",
    "a: {command: x, headers: {a: b}}": "`headers` go with `url`",
    "a: {url: 'ftp://x/'}": "`a.url`",
    "a: {url: 'http://me:secret@x/'}": "`a.url`",
    "a: {command: x, timeout_seconds: 0}": "`a.timeout_seconds`",
    "a: just words": "`a`",
    # Its name must fit into the names of tools.
    **{f"'{name}': {{command: x}}": "tools.mcp" for name in ("Big", "with space", "double__line", "", "x" * 31)},
}


def test_a_wrong_server_is_refused_with_the_place(place: Place) -> None:
    for server, told in SERVERS.items():
        place.config(f"tools:\n  mcp:\n    {server}\n")
        refusal = place.refusal()
        assert (told in refusal, "tools.mcp" in refusal, "secret" in refusal) == (True, True, False), refusal


def test_a_name_in_the_home_env_file_that_is_no_setting_is_a_secret_and_keeps_nothing_from_starting(
    place: Place,
) -> None:
    place.config(MCP)
    (place.home / ".env").write_text("TICKETS_TOKEN=abc\n")
    assert place.load().mcp
    known = variables(place.home, {"SKY_KEY": "from-environment"}, place.here)
    assert (known["TICKETS_TOKEN"], known["SKY_KEY"]) == ("abc", "from-environment")
    (place.home / ".env").write_text("STRAY_TOKEN=abc\nLANEWAY_PORT=7\n")
    assert place.load().port == 7
    assert variables(place.home, {}, place.here)["STRAY_TOKEN"] == "abc"
    assert secret_names(place.home) == {"STRAY_TOKEN": ".env"}
    keep_secrets(place.home, {"STRAY_TOKEN": "newer", "OTHER": "x"})
    assert variables(place.home, {"OTHER": "strongest"}, place.here) == {
        "STRAY_TOKEN": "newer", "OTHER": "strongest", "LANEWAY_PORT": "7",
    }  # fmt: skip
    assert (place.home / SECRETS).stat().st_mode & 0o777 == 0o600
    (place.home / SECRETS).write_text("{")
    with pytest.raises(SettingsError, match="not valid JSON"):
        variables(place.home, {}, place.here)
