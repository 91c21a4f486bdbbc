"""What a message and an interaction response must look like.

Pure: bodies go in, `ApiError` comes out (50035 with every fault of the body, or the special code Discord has for it).
Components are checked by `bot.sandbox.components`, application commands by `bot.sandbox.commands`.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

from bot.sandbox import limits
from bot.sandbox.components import ComponentCheck
from bot.sandbox.fields import Form, Path
from bot.sandbox.model import (
    AUTOCOMPLETE,
    CHOICES,
    COMMAND,
    COMPONENT,
    DEFERRED_MESSAGE,
    DEFERRED_UPDATE,
    MESSAGE,
    MODAL,
    MODAL_SUBMIT,
    UPDATE,
    Upload,
)
from bot.sandbox.wire import ApiError, Json, as_list, as_object

CALLBACKS: Final = {  # interaction type -> callback types that may answer it
    COMMAND: (MESSAGE, DEFERRED_MESSAGE, MODAL),
    COMPONENT: (MESSAGE, DEFERRED_MESSAGE, DEFERRED_UPDATE, UPDATE, MODAL),
    AUTOCOMPLETE: (CHOICES,),
    MODAL_SUBMIT: (MESSAGE, DEFERRED_MESSAGE),
}
NOT_OFFERED: Final = {"poll": "polls", "sticker_ids": "stickers"}
EMPTY: Final = "Cannot send an empty message"


def check_uploads(files: Sequence[Upload]) -> None:
    """Count and sizes of a request's files; sizes in bytes. Raises 413/40005 or 400/30015."""
    if len(files) > limits.FILES_MAX:
        raise ApiError(400, 30015, f"Maximum number of attachments in a message reached ({limits.FILES_MAX})")
    if any(len(file.content) > limits.FILE_BYTES_MAX for file in files):
        raise ApiError(413, 40005, "Request entity too large")


def check_message(payload: Json, files: Sequence[Upload], *, flags_allowed: int, kept: Collection[str] = (), path: Path = ()) -> int:
    """Check a new message; return its flags. `kept`: names of files that are there already. Raises ApiError."""
    form = Form()
    flags = _flags(form, path, payload, flags_allowed)
    _fields(form, path, payload, files, flags=flags, kept=kept)
    form.raise_if_any()
    if flags & limits.VOICE_MESSAGE:
        raise ApiError(400, 50160, "Voice messages must have a single audio attachment")
    if not _has_substance(payload) and not files:
        raise ApiError(400, 50006, EMPTY)
    return flags


def check_edit(payload: Json, files: Sequence[Upload], current: Json, *, flags_allowed: int, kept: Collection[str], path: Path = ()) -> int:
    """Check an edit of the message `current`; return the flags it will have. Raises ApiError."""
    form = Form()
    flags: int = current["flags"]
    if payload.get("flags") is not None:
        asked = _flags(form, path, payload, flags_allowed | limits.EPHEMERAL)
        if flags & limits.COMPONENTS_V2 and not asked & limits.COMPONENTS_V2:
            asked |= limits.COMPONENTS_V2  # it cannot be unset [docs]
        flags = flags & ~limits.SUPPRESS_EMBEDS | asked & (limits.SUPPRESS_EMBEDS | limits.COMPONENTS_V2)
    _fields(form, path, payload, files, flags=flags, kept=kept)
    if flags & limits.COMPONENTS_V2 and not current["flags"] & limits.COMPONENTS_V2:
        for key in ("content", "embeds"):
            if current[key] and key not in payload:
                _legacy_in_v2(form, (*path, key))
    form.raise_if_any()
    after = {key: payload.get(key, current[key]) for key in ("content", "embeds", "components")}
    if not _has_substance(after) and not files and not kept:
        raise ApiError(400, 50006, EMPTY)
    return flags


def check_callback(body: Json, files: Sequence[Upload], *, interaction_type: int, from_component: bool) -> tuple[int, Json]:
    """Check the form of an interaction response; return its type and data. The message itself is checked when it is made."""
    form = Form()
    kind: Any = body.get("type")
    allowed = CALLBACKS[interaction_type]
    if interaction_type == MODAL_SUBMIT and from_component:
        allowed = (*allowed, DEFERRED_UPDATE, UPDATE)
    if form.one_of(("type",), kind, allowed):
        data = as_object(body.get("data") or {})
        if data is None:
            form.add(("data",), "DICT_TYPE_CONVERT", "Only dictionaries may be used in a DictType")
        elif kind in (DEFERRED_MESSAGE, DEFERRED_UPDATE):
            _flags(form, ("data",), data, limits.EPHEMERAL if kind == DEFERRED_MESSAGE else 0)
        elif kind == MODAL:
            check_modal(form, ("data",), data)
        elif kind == CHOICES:
            form.objects(("data",), data, "choices", (0, limits.AUTOCOMPLETE_CHOICES_MAX), required=True)
        form.raise_if_any()
        return kind, data or {}
    form.raise_if_any()
    raise AssertionError("one_of reports what it refuses")


def check_modal(form: Form, path: Path, data: Json) -> None:
    form.text(path, data, "title", limits.MODAL_TITLE_LEN, required=True)
    form.text(path, data, "custom_id", limits.CUSTOM_ID_LEN, required=True)
    ComponentCheck(form, ()).modal(path, data)


def _flags(form: Form, path: Path, payload: Json, allowed: int) -> int:
    flags = form.integer(path, payload, "flags", (0, 2**53)) or 0
    if flags & ~allowed:
        form.add((*path, "flags"), "MESSAGE_FLAGS_INVALID", f"Flags {flags & ~allowed} cannot be set here")
    return flags


def _has_substance(payload: Json) -> bool:
    content = payload.get("content")
    return bool((isinstance(content, str) and content.strip()) or payload.get("embeds") or payload.get("components"))


def _legacy_in_v2(form: Form, path: Path) -> None:
    form.add(
        path,
        "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2",
        "The 'content' and 'embeds' fields cannot be used with MessageFlags.IS_COMPONENTS_V2",
    )


def _fields(form: Form, path: Path, payload: Json, files: Sequence[Upload], *, flags: int, kept: Collection[str]) -> None:
    v2 = bool(flags & limits.COMPONENTS_V2)
    for key, what in NOT_OFFERED.items():
        if payload.get(key):
            form.add((*path, key), "SANDBOX_NOT_OFFERED", f"The sandbox has no {what}")
    content = form.text(path, payload, "content", (0, limits.CONTENT_MAX), trim=True)
    embeds = form.objects(path, payload, "embeds", (0, limits.EMBEDS_MAX))
    if v2:
        for key, present in (("content", content), ("embeds", embeds)):
            if present:
                _legacy_in_v2(form, (*path, key))
    _attachments(form, path, payload, files)
    names = {file.filename for file in files} | set(kept)
    _embeds(form, (*path, "embeds"), embeds, names)
    ComponentCheck(form, names).message(path, payload, v2=v2)
    _mentions(form, path, payload)
    nonce = payload.get("nonce")
    if isinstance(nonce, str):
        form.text(path, payload, "nonce", (0, limits.NONCE_MAX))


def _attachments(form: Form, path: Path, payload: Json, files: Sequence[Upload]) -> None:
    listed = form.objects(path, payload, "attachments", (0, limits.FILES_MAX))
    for index, entry in enumerate(listed):
        where = (*path, "attachments", index)
        form.text(where, entry, "description", (0, limits.ATTACHMENT_DESCRIPTION_MAX))
        number = entry.get("id")
        if not isinstance(number, int | str) or not str(number).isdigit():
            form.missing((*where, "id"))
        elif int(number) < limits.FILES_MAX and int(number) >= len(files):
            form.add((*where, "id"), "ATTACHMENT_NOT_FOUND", f"There is no part files[{number}] in this request")


def _embeds(form: Form, path: Path, embeds: Sequence[Json], names: Collection[str]) -> None:
    total = 0
    for index, embed in enumerate(embeds):
        where = (*path, index)
        parts = [
            form.text(where, embed, "title", (0, limits.EMBED_TITLE_MAX), trim=True),
            form.text(where, embed, "description", (0, limits.EMBED_DESCRIPTION_MAX), trim=True),
        ]
        form.text(where, embed, "url", (0, limits.EMBED_URL_MAX))
        form.integer(where, embed, "color", (0, 0xFFFFFF))
        for number, field in enumerate(form.objects(where, embed, "fields", (0, limits.EMBED_FIELDS_MAX))):
            at = (*where, "fields", number)
            parts.append(form.text(at, field, "name", (1, limits.EMBED_FIELD_NAME_MAX), required=True, trim=True))
            parts.append(form.text(at, field, "value", (1, limits.EMBED_FIELD_VALUE_MAX), required=True, trim=True))
        for key, name, most in (("footer", "text", limits.EMBED_FOOTER_MAX), ("author", "name", limits.EMBED_AUTHOR_MAX)):
            if isinstance(embed.get(key), dict):
                parts.append(form.text((*where, key), embed[key], name, (0, most), required=True, trim=True))
        pictures = [key for key in ("image", "thumbnail") if isinstance(embed.get(key), dict)]
        for key in pictures:
            url = form.text((*where, key), embed[key], "url", (0, limits.EMBED_URL_MAX), required=True)
            if url is not None and not _picture_known(url, names):
                form.add((*where, key, "url"), "URL_TYPE_INVALID_SCHEME", f"{url!r} is no http(s) address and no file of this message")
        if not any(parts) and not pictures:
            form.missing((*where, "description"))
        total += sum(len(part.strip()) for part in parts if part)
    if total > limits.EMBED_TOTAL_MAX:
        form.add(path, "MAX_EMBED_SIZE_EXCEEDED", f"Embed size exceeds maximum size of {limits.EMBED_TOTAL_MAX}")


def _picture_known(url: str, names: Collection[str]) -> bool:
    scheme, _, rest = url.partition("://")
    return rest in names if scheme == "attachment" else scheme in ("http", "https")


def _mentions(form: Form, path: Path, payload: Json) -> None:
    allowed = as_object(payload.get("allowed_mentions"))
    if allowed is None:
        return
    where = (*path, "allowed_mentions")
    parse = as_list(allowed.get("parse")) or []
    for index, kind in enumerate(parse):
        form.one_of((*where, "parse", index), kind, ("roles", "users", "everyone"))
    for key in ("users", "roles"):
        ids = as_list(allowed.get(key)) or []
        if len(ids) > limits.ALLOWED_MENTIONS_MAX:
            form.add((*where, key), "BASE_TYPE_MAX_LENGTH", f"Must be {limits.ALLOWED_MENTIONS_MAX} or fewer in length.")
        if ids and key in parse:
            form.add(where, "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE", f"parse: {key!r} and a list of {key} are mutually exclusive.")
