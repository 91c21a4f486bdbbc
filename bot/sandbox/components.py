"""What a component tree must look like: rows and v2 layouts of messages, labels and inputs of modals, and what was put in.

Pure: a tree goes in, faults are added to a `Form`. Source of the rules: Discord's component reference, the inner error
codes as bots report them; where nobody has reported a code, a generic BASE_TYPE one is used.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from bot.sandbox import limits
from bot.sandbox.fields import Form, Path
from bot.sandbox.model import walk
from bot.sandbox.wire import Json, Refused, as_list, as_object

ROW, BUTTON, STRING_SELECT, TEXT_INPUT = 1, 2, 3, 4
SELECTS: Final = (3, 5, 6, 7, 8)
SECTION, TEXT_DISPLAY, THUMBNAIL, GALLERY, FILE, SEPARATOR, CONTAINER = 9, 10, 11, 12, 13, 14, 17
LABEL, FILE_UPLOAD, RADIO_GROUP, CHECKBOX_GROUP, CHECKBOX = 18, 19, 21, 22, 23
V2_CHILDREN: Final = (ROW, SECTION, TEXT_DISPLAY, GALLERY, FILE, SEPARATOR)
V2_TOP: Final = (*V2_CHILDREN, CONTAINER)
LABEL_CHILDREN: Final = (TEXT_INPUT, *SELECTS, FILE_UPLOAD, RADIO_GROUP, CHECKBOX_GROUP, CHECKBOX)
LINK_STYLE, PREMIUM_STYLE = 5, 6
UNLIMITED: Final = 10**6  # a count that another rule bounds


class ComponentCheck:
    """One message's or modal's tree: custom ids and component ids must be unique over all of it."""

    def __init__(self, form: Form, filenames: Collection[str]) -> None:
        self.form = form
        self.filenames = filenames
        self.custom_ids: set[str] = set()
        self.ids: set[int] = set()

    def message(self, path: Path, payload: Json, *, v2: bool) -> None:
        where = (*path, "components")
        tree = self.form.objects(path, payload, "components", (0, UNLIMITED if v2 else limits.LEGACY_ROWS_MAX))
        for index, component in enumerate(tree):
            self._node((*where, index), component, V2_TOP if v2 else (ROW,))
        if v2 and not self.form.errors:  # only a tree of the right shape can be counted
            self._totals(where, tree)

    def modal(self, path: Path, payload: Json) -> None:
        where = (*path, "components")
        tree = self.form.objects(path, payload, "components", limits.MODAL_COMPONENTS, required=True)
        for index, component in enumerate(tree):
            self._node((*where, index), component, (ROW, TEXT_DISPLAY, LABEL), in_modal=True)

    def _totals(self, path: Path, tree: list[Json]) -> None:
        nodes = list(walk(tree))
        if len(nodes) > limits.V2_COMPONENTS_MAX:
            self.form.add(path, "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED", f"Must be {limits.V2_COMPONENTS_MAX} or fewer in length.")
        characters = sum(
            len(node["content"]) for node in nodes if node.get("type") == TEXT_DISPLAY and isinstance(node.get("content"), str)
        )
        if characters > limits.V2_TEXT_MAX:
            self.form.add(
                path,
                "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED",
                f"The total text of a message must be {limits.V2_TEXT_MAX} or fewer in length.",
            )

    def _node(self, path: Path, node: Json, allowed: Collection[int], *, in_modal: bool = False) -> None:
        kind = node.get("type")
        if not self.form.one_of((*path, "type"), kind, allowed):
            return
        number = self.form.integer(path, node, "id", (0, 2**31 - 1))
        if number:
            if number in self.ids:
                self.form.add((*path, "id"), "COMPONENT_ID_DUPLICATED", "Component id cannot be duplicated")
            self.ids.add(number)
        if kind == ROW:
            self._row(path, node, in_modal=in_modal)
        elif kind == BUTTON:
            self._button(path, node)
        elif kind in SELECTS:
            self._select(path, node)
        elif kind == TEXT_INPUT:
            self._text_input(path, node)
        elif kind == SECTION:
            self._section(path, node)
        elif kind == TEXT_DISPLAY:
            self.form.text(path, node, "content", (1, limits.V2_TEXT_MAX), required=True)
        elif kind in (THUMBNAIL, FILE, GALLERY):
            self._media(path, node, kind)
        elif kind == SEPARATOR:
            self.form.integer(path, node, "spacing", (1, 2))
        elif kind == CONTAINER:
            self.form.integer(path, node, "accent_color", (0, 0xFFFFFF))
            for index, child in enumerate(self.form.objects(path, node, "components", (1, limits.V2_COMPONENTS_MAX), required=True)):
                self._node((*path, "components", index), child, V2_CHILDREN)
        elif kind == LABEL:
            self._label(path, node)
        elif kind in (RADIO_GROUP, CHECKBOX_GROUP):
            self._group(path, node, limits.RADIO_OPTIONS if kind == RADIO_GROUP else limits.CHECKBOX_OPTIONS)
        else:  # checkbox, file upload
            self._custom_id(path, node)
            if kind == FILE_UPLOAD:
                self._counts(path, node, limits.UPLOAD_FILES, limits.UPLOAD_FILES[1])

    def _custom_id(self, path: Path, node: Json) -> None:
        custom_id = self.form.text(path, node, "custom_id", limits.CUSTOM_ID_LEN, required=True)
        if custom_id is None:
            return
        if custom_id in self.custom_ids:
            self.form.add((*path, "custom_id"), "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated")
        self.custom_ids.add(custom_id)

    def _row(self, path: Path, node: Json, *, in_modal: bool) -> None:
        children = self.form.objects(path, node, "components", (1, limits.ROW_BUTTONS_MAX), required=True)
        kinds = [child.get("type") for child in children]
        allowed = (TEXT_INPUT,) if in_modal else (BUTTON, *SELECTS)
        wide = [kind for kind in kinds if kind != BUTTON]
        if wide and len(kinds) > 1:
            self.form.add((*path, "components"), "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "A select or an input fills a whole row")
        for index, child in enumerate(children):
            self._node((*path, "components", index), child, allowed)

    def _button(self, path: Path, node: Json) -> None:
        style = node.get("style")
        self.form.one_of((*path, "style"), style, (1, 2, 3, 4, 5, 6))
        self.form.text(path, node, "label", (0, limits.BUTTON_LABEL_MAX))
        self.form.boolean(path, node, "disabled")
        if style == LINK_STYLE:
            url = self.form.text(path, node, "url", (1, limits.BUTTON_URL_MAX), required=True)
            if url is not None and not url.startswith(("http://", "https://", "discord://")):
                self.form.add((*path, "url"), "URL_TYPE_INVALID_SCHEME", f"Scheme {url.partition(':')[0]!r} is not supported.")
            if node.get("custom_id") is not None:
                self.form.add((*path, "custom_id"), "BASE_TYPE_BAD_FIELD", "A link button cannot have a custom id")
        elif style == PREMIUM_STYLE:
            self.form.text(path, node, "sku_id", (1, 20), required=True)
            return
        else:
            self._custom_id(path, node)
            if node.get("url") is not None:
                self.form.add((*path, "url"), "BASE_TYPE_BAD_FIELD", "Only a link button can have a url")
        if not node.get("label") and not node.get("emoji"):
            self.form.add(path, "BUTTON_COMPONENT_INVALID", "A button needs a label or an emoji")

    def _counts(self, path: Path, node: Json, most: limits.Range, available: int) -> None:
        least_values = self.form.integer(path, node, "min_values", (0, most[1]), default=1)
        most_values = self.form.integer(path, node, "max_values", (1, most[1]), default=1)
        assert least_values is not None
        assert most_values is not None
        if least_values > most_values:
            self.form.add(
                (*path, "min_values"), "SELECT_COMPONENT_MIN_VALUES", f"min_values {least_values} is above max_values {most_values}"
            )
        if most_values > available:
            self.form.add(
                (*path, "max_values"), "SELECT_COMPONENT_MAX_VALUES", f"max_values {most_values} is above the {available} options"
            )

    def _options(self, path: Path, node: Json, bounds: limits.Range) -> int:
        options = self.form.objects(path, node, "options", bounds, required=True)
        values: set[str] = set()
        for index, option in enumerate(options):
            where = (*path, "options", index)
            self.form.text(where, option, "label", limits.SELECT_OPTION_LABEL_LEN, required=True)
            self.form.text(where, option, "description", (0, limits.SELECT_OPTION_DESCRIPTION_MAX))
            value = self.form.text(where, option, "value", limits.SELECT_OPTION_VALUE_LEN, required=True)
            if value is not None and value in values:
                self.form.add((*where, "value"), "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED", "The specified option value is already used")
            values.add(value or "")
        return len(options)

    def _select(self, path: Path, node: Json) -> None:
        self._custom_id(path, node)
        self.form.text(path, node, "placeholder", (0, limits.SELECT_PLACEHOLDER_MAX))
        self.form.boolean(path, node, "disabled")
        available = limits.SELECT_MAX_VALUES[1]
        if node["type"] == STRING_SELECT:
            available = self._options(path, node, limits.SELECT_OPTIONS)
        self._counts(path, node, limits.SELECT_MAX_VALUES, available)

    def _group(self, path: Path, node: Json, bounds: limits.Range) -> None:
        self._custom_id(path, node)
        available = self._options(path, node, bounds)
        if node["type"] == CHECKBOX_GROUP:
            self._counts(path, {**node, "max_values": node.get("max_values") or available}, (0, limits.CHECKBOX_OPTIONS[1]), available)

    def _text_input(self, path: Path, node: Json) -> None:
        self._custom_id(path, node)
        self.form.one_of((*path, "style"), node.get("style"), (1, 2))
        least = self.form.integer(path, node, "min_length", (0, limits.TEXT_INPUT_MAX), default=0) or 0
        most = (
            self.form.integer(path, node, "max_length", (1, limits.TEXT_INPUT_MAX), default=limits.TEXT_INPUT_MAX) or limits.TEXT_INPUT_MAX
        )
        if least > most:
            self.form.add((*path, "min_length"), "TEXT_INPUT_MIN_LENGTH", f"min_length {least} is above max_length {most}")
        self.form.text(path, node, "placeholder", (0, limits.TEXT_INPUT_PLACEHOLDER_MAX))
        self.form.text(path, node, "value", (0, most))
        self.form.text(path, node, "label", limits.LABEL_LEN, required=path[-1] != "component")  # the wrapping label has the text

    def _label(self, path: Path, node: Json) -> None:
        self.form.text(path, node, "label", limits.LABEL_LEN, required=True)
        self.form.text(path, node, "description", (0, limits.LABEL_DESCRIPTION_MAX))
        child = as_object(node.get("component"))
        if child is None:
            self.form.missing((*path, "component"))
            return
        self._node((*path, "component"), child, LABEL_CHILDREN, in_modal=True)

    def _section(self, path: Path, node: Json) -> None:
        for index, child in enumerate(self.form.objects(path, node, "components", limits.SECTION_TEXTS, required=True)):
            self._node((*path, "components", index), child, (TEXT_DISPLAY,))
        accessory = as_object(node.get("accessory"))
        if accessory is None:
            self.form.missing((*path, "accessory"))
            return
        self._node((*path, "accessory"), accessory, (BUTTON, THUMBNAIL))

    def _media(self, path: Path, node: Json, kind: Any) -> None:
        if kind == GALLERY:
            for index, item in enumerate(self.form.objects(path, node, "items", limits.GALLERY_ITEMS, required=True)):
                self._media_item((*path, "items", index), item, "media")
            return
        self._media_item(path, node, "file" if kind == FILE else "media")

    def _media_item(self, path: Path, node: Json, key: str) -> None:
        self.form.text(path, node, "description", (0, limits.MEDIA_DESCRIPTION_MAX))
        media = as_object(node.get(key))
        if media is None:
            self.form.missing((*path, key))
            return
        url = self.form.text((*path, key), media, "url", (1, limits.EMBED_URL_MAX), required=True)
        if url is None:
            return
        scheme, _, rest = url.partition("://")
        if scheme == "attachment":
            if rest not in self.filenames:
                self.form.add(
                    (*path, key), "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND", f"The referenced attachment {rest!r} was not found"
                )
        elif key == "file" or scheme not in ("http", "https"):
            self.form.add((*path, key, "url"), "URL_TYPE_INVALID_SCHEME", f"Scheme {scheme!r} is not supported.")


def numbered(components: list[Json]) -> list[Json]:
    """The tree as Discord returns it: without null fields, with an `id` on every component, counted from 1."""
    taken = {node["id"] for node in walk(components) if node.get("id")}
    counter = 0

    def number(node: Json) -> Json:
        nonlocal counter
        copy = {key: value for key, value in node.items() if value is not None}
        if not copy.get("id"):
            counter += 1
            while counter in taken:
                counter += 1
            copy["id"] = counter
        if "components" in copy:
            copy["components"] = [number(child) for child in copy["components"]]
        for key in ("accessory", "component"):
            if key in copy:
                copy[key] = number(copy[key])
        return copy

    return [number(node) for node in components]


def chosen(component: Json, values: list[str]) -> None:
    """Raise Refused unless a person can leave this select, group or upload with these values."""
    name = component["custom_id"]
    required = component.get("required", True)
    least = component.get("min_values", 1)
    most = component.get("max_values", 1)
    if component["type"] == CHECKBOX_GROUP:
        most = component.get("max_values", len(component["options"]))
    if component["type"] == RADIO_GROUP:
        least = most = 1
    if not values and (not required or least == 0):
        return
    if not least <= len(values) <= most:
        raise Refused(f"{name!r}: {len(values)} values chosen; {least} to {most} are possible")
    if len(set(values)) != len(values):
        raise Refused(f"{name!r}: a value is chosen twice")
    options = component.get("options")
    if options is not None:
        offered = {option["value"] for option in options}
        for value in values:
            if value not in offered:
                raise Refused(f"{name!r}: {value!r} is not offered; there is {sorted(offered)}")


def filled(component: Json, value: Any) -> Json:
    """The submit payload of one modal input with what a person put in (None: left alone); raises Refused."""
    name, kind = component["custom_id"], component["type"]
    answer: Json = {"type": kind, "id": component["id"], "custom_id": name}
    options: list[Json] = component.get("options", [])
    if kind == TEXT_INPUT:
        text = component.get("value") or "" if value is None else str(value)
        least = component.get("min_length", 0)
        if not text and component.get("required", True):
            raise Refused(f"{name!r} is required")
        if text and len(text) < least:
            raise Refused(f"{name!r}: {len(text)} characters; at least {least} are needed")
        if len(text) > component.get("max_length", limits.TEXT_INPUT_MAX):
            raise Refused(f"{name!r}: {len(text)} characters; at most {component.get('max_length', limits.TEXT_INPUT_MAX)} fit")
        return answer | {"value": text}
    if kind == CHECKBOX:
        ticked = component.get("default", False) if value is None else value
        if not isinstance(ticked, bool):
            raise Refused(f"{name!r} is a checkbox: true or false, not {value!r}")
        return answer | {"value": ticked}
    if value is None:
        values = [option["value"] for option in options if option.get("default")]
    else:
        entries = as_list(value)
        values = [str(value)] if entries is None else [str(entry) for entry in entries]
    chosen(component, values)
    if kind == RADIO_GROUP:
        return answer | {"value": values[0] if values else None}
    return answer | {"values": values}
