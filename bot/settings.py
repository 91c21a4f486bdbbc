"""What an operator may set: `studyhall.yaml`, or `STUDYHALL_…` in the environment, which wins. All of it is optional.

The Discord token is not among them: it comes from DISCORD_TOKEN or from the file that DISCORD_TOKEN_FILE names, and is
never logged. `studyhall.example.yaml` is generated from this module.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, Literal

from pydantic import Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, YamlConfigSettingsSource

FILE: Final = "studyhall.yaml"


class SettingsError(Exception):
    """One line: which setting, what is wrong, what to do."""


class Settings(BaseSettings):
    """Paths are relative to the folder the bot is started in."""

    model_config = SettingsConfigDict(env_prefix="STUDYHALL_", extra="forbid", yaml_file=FILE, protected_namespaces=())

    database: Path = Field(Path("data/studyhall.db"), description="The one SQLite file with all rounds and answers.")
    content: list[Path] = Field(default_factory=list[Path], description="More content folders, beside the shipped library.")
    shipped_library: bool = Field(True, description="Whether the shipped guides and quizzes are offered.")
    engine: Literal["auto", "quoting", "llamacpp", "paged", "server"] = Field(
        "auto", description="Who writes answers: auto = the embedded model once its weights are there, quotes until then."
    )
    model_path: Path | None = Field(
        None,
        description="llamacpp: a GGUF file instead of the one that `studyhall model fetch` gets. paged: a model folder or GGUF file.",
    )
    embeddings: bool = Field(True, description="Search by meaning too, where the extra 'embeddings' is installed.")
    server_url: str = Field("http://127.0.0.1:8000/v1", description="The OpenAI-compatible server that the engine 'server' asks.")
    server_model: str = Field("", description="The name of the model that this server serves.")
    server_flavour: Literal["trtllm", "vllm", "llamacpp", "ollama", "generic"] = Field(
        "generic", description="Which fields this server understands."
    )
    live_role: str = Field("", description="Role (name or id) that may run live rounds, beside those who may manage the server.")
    server_running: int = Field(64, ge=1, description="How many replies server or paged write at once; further questions wait their turn.")
    server_context: int = Field(8_192, ge=1_024, description="Tokens of one prompt and its reply that server or paged have room for.")
    server_tokens: int = Field(160, ge=16, le=2_000, description="The longest reply of the server, in tokens.")
    server_grammar: bool = Field(False, description="Hold the server's model to sentences with section tags (guided decoding).")
    metrics_port: int | None = Field(
        None, ge=1, le=65_535, description="Where Prometheus finds queue, speed and errors (loopback only); empty: nowhere."
    )
    guide_url: str = Field("", description="Where guides are published, e.g. https://example.org/guides; empty: sections open in Discord.")
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = Field("INFO", description="How much is logged to standard error.")

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        return init_settings, env_settings, YamlConfigSettingsSource(settings_cls)


def load_settings(**overrides: object) -> Settings:
    """Settings from the overrides, the environment and the file, in this order. Raises SettingsError."""
    try:
        return Settings(**overrides)  # pyright: ignore[reportArgumentType]  # validated by pydantic
    except ValidationError as error:
        first = error.errors()[0]
        name = ".".join(map(str, first["loc"])) or FILE
        raise SettingsError(f"settings: {name}: {first['msg']}. Correct it in {FILE} or in STUDYHALL_{name.upper()}.") from error
    except Exception as error:  # a YAML parser has many errors; all of them mean the file cannot be read
        raise SettingsError(f"settings: {FILE}: {error}. Correct the file, or remove it to use the defaults.".replace("\n", " ")) from error


def load_token() -> SecretStr:
    """The bot token. Raises SettingsError."""
    token = os.environ.get("DISCORD_TOKEN", "").strip()
    file = os.environ.get("DISCORD_TOKEN_FILE", "").strip()
    if not token and file:
        try:
            token = Path(file).read_text("utf-8").strip()
        except OSError as error:
            raise SettingsError(f"settings: DISCORD_TOKEN_FILE: {file}: {error.strerror}. Name a file this user can read.") from error
    if not token:
        raise SettingsError("settings: DISCORD_TOKEN is not set. Put the bot's token into it (README, section 'On Discord').")
    return SecretStr(token)
