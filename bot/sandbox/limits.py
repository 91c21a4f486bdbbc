"""Every number and pattern of Discord that the sandbox enforces, in one table.

Sources, named in the comments: [docs] is Discord's documentation, [spec] its OpenAPI file, [seen] what bots report and
Discord does not promise; a [seen] value is a default that `Rates` lets a test change. Nothing is computed or read here.
"""

from __future__ import annotations

from typing import Final

Range = tuple[int, int]

# interactions [docs: interactions/receiving-and-responding]
FIRST_RESPONSE_S: Final = 3.0
TOKEN_LIFE_S: Final = 900.0
AUTOCOMPLETE_CHOICES_MAX: Final = 25
CHOICE_NAME_LEN: Final[Range] = (1, 100)
CHOICE_VALUE_MAX: Final = 100
MODAL_TITLE_LEN: Final[Range] = (1, 45)
MODAL_COMPONENTS: Final[Range] = (1, 5)

# messages, all of [docs: resources/message]
CONTENT_MAX: Final = 2_000
EMBEDS_MAX: Final = 10
FILES_MAX: Final = 10
NONCE_MAX: Final = 25
NONCE_MEMORY_S: Final = 300.0  # "a few minutes" [docs]
ALLOWED_MENTIONS_MAX: Final = 100
FILE_BYTES_MAX: Final = 10 * 1024 * 1024  # per file, without boosts
REQUEST_BYTES_MAX: Final = 25 * 1024 * 1024
ATTACHMENT_DESCRIPTION_MAX: Final = 1_024

SUPPRESS_EMBEDS: Final = 1 << 2
HAS_THREAD: Final = 1 << 5
EPHEMERAL: Final = 1 << 6
LOADING: Final = 1 << 7
SUPPRESS_NOTIFICATIONS: Final = 1 << 12
VOICE_MESSAGE: Final = 1 << 13
COMPONENTS_V2: Final = 1 << 15

# embeds [docs: resources/message#embed-limits], lengths after trimming
EMBED_TITLE_MAX: Final = 256
EMBED_DESCRIPTION_MAX: Final = 4_096
EMBED_FIELDS_MAX: Final = 25
EMBED_FIELD_NAME_MAX: Final = 256
EMBED_FIELD_VALUE_MAX: Final = 1_024
EMBED_FOOTER_MAX: Final = 2_048
EMBED_AUTHOR_MAX: Final = 256
EMBED_TOTAL_MAX: Final = 6_000  # all embeds of a message together
EMBED_URL_MAX: Final = 2_048  # [spec]

# components, all of [docs: components/reference]
LEGACY_ROWS_MAX: Final = 5
ROW_BUTTONS_MAX: Final = 5
V2_COMPONENTS_MAX: Final = 40  # nested ones count
V2_TEXT_MAX: Final = 4_000  # all text displays of a message together [spec]
CUSTOM_ID_LEN: Final[Range] = (1, 100)
BUTTON_LABEL_MAX: Final = 80
BUTTON_URL_MAX: Final = 512
SELECT_OPTIONS: Final[Range] = (1, 25)
SELECT_OPTION_LABEL_LEN: Final[Range] = (1, 100)
SELECT_OPTION_VALUE_LEN: Final[Range] = (1, 100)
SELECT_OPTION_DESCRIPTION_MAX: Final = 100
SELECT_PLACEHOLDER_MAX: Final = 150
SELECT_MIN_VALUES: Final[Range] = (0, 25)
SELECT_MAX_VALUES: Final[Range] = (1, 25)
SECTION_TEXTS: Final[Range] = (1, 3)
GALLERY_ITEMS: Final[Range] = (1, 10)
MEDIA_DESCRIPTION_MAX: Final = 1_024
LABEL_LEN: Final[Range] = (1, 45)
LABEL_DESCRIPTION_MAX: Final = 100
TEXT_INPUT_MAX: Final = 4_000
TEXT_INPUT_PLACEHOLDER_MAX: Final = 100
RADIO_OPTIONS: Final[Range] = (2, 10)
CHECKBOX_OPTIONS: Final[Range] = (1, 10)
UPLOAD_FILES: Final[Range] = (0, 10)

# application commands [docs: interactions/application-commands]
COMMAND_NAME_LEN: Final[Range] = (1, 32)
COMMAND_NAME_EXTRA: Final = "-_'"  # beside letters, numbers and the two scripts below
COMMAND_NAME_SCRIPTS: Final = ("DEVANAGARI", "THAI")  # whose vowel signs are neither letters nor numbers
COMMAND_DESCRIPTION_LEN: Final[Range] = (1, 100)
COMMAND_OPTIONS_MAX: Final = 25
COMMAND_CHOICES_MAX: Final = 25  # [spec]
COMMAND_CHARACTERS_MAX: Final = 8_000
COMMAND_STRING_LENGTH_MAX: Final = 6_000
COMMAND_INTEGER_ABS_MAX: Final = 2**53 - 1
COMMANDS_PER_SCOPE: Final = {1: 100, 2: 15, 3: 15}  # by command type: slash, user, message
COMMAND_CREATES_PER_DAY: Final = 200
LOCALES: Final = frozenset(
    "id da de en-GB en-US es-ES es-419 fr hr it lt hu nl no pl pt-BR ro fi sv-SE vi tr cs el bg ru uk hi th zh-CN ja zh-TW ko ar he".split()
)  # [docs: reference#locales]; ar and he only in [spec]

# threads, all of [docs: resources/channel]
THREAD_NAME_LEN: Final[Range] = (1, 100)
THREAD_ARCHIVE_MINUTES: Final = (60, 1_440, 4_320, 10_080)
THREAD_SLOWMODE_S: Final[Range] = (0, 21_600)

# rate limits, those without a mark of [docs: topics/rate-limits]
GLOBAL_REQUESTS: Final = (50, 1.0)  # count, seconds; interaction routes are not counted
CHANNEL_MESSAGES: Final = (5, 5.0)  # create and edit in one channel [seen]
WEBHOOK_REQUESTS: Final = (5, 2.0)  # per interaction token [seen]
WEBHOOK_SHARED: Final = (30, 60.0)  # per channel, scope "shared" [seen]; off unless a test turns it on
OLD_EDITS: Final = (3, 20.0)  # edits of messages older than OLD_MESSAGE_S, code 30046 [seen]
OLD_MESSAGE_S: Final = 3_600.0
OTHER_REQUESTS: Final = (50, 1.0)  # ours: routes whose limit nobody has published
INVALID_REQUESTS: Final = (10_000, 600.0)

# gateway [docs: events/gateway, topics/opcodes-and-status-codes]
GATEWAY_VERSION: Final = "10"
HEARTBEAT_S: Final = 41.25
GATEWAY_SENDS: Final = (120, 60.0)
GATEWAY_BYTES_MAX: Final = 4_096
IDENTIFIES_PER_DAY: Final = 1_000
SESSION_LIFE_S: Final = 120.0  # ours: how long a dropped session can be resumed
SESSION_EVENTS_MAX: Final = 10_000  # ours: events kept for a resume
INTENTS_ALL: Final = (1 << 25) - 1
INTENT_GUILDS: Final = 1 << 0
INTENT_MEMBERS: Final = 1 << 1
INTENT_PRESENCES: Final = 1 << 8
INTENT_GUILD_MESSAGES: Final = 1 << 9
INTENT_DIRECT_MESSAGES: Final = 1 << 12
INTENT_CONTENT: Final = 1 << 15
PRIVILEGED_INTENTS: Final = INTENT_MEMBERS | INTENT_PRESENCES | INTENT_CONTENT
