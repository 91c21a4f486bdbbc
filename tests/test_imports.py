"""The folders are the architecture: any import that points the wrong way fails here, with its file and line.

Proves the arrows of docs/architecture.md over every module of the four packages. It reads the source; it does not
prove anything about imports made by name at run time.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGES = ("bot", "tutor", "content", "engines")

# package -> the modules of ours it may import from (a prefix allows everything below it)
ALLOWED: dict[str, tuple[str, ...]] = {
    "content": ("content",),
    "engines": ("engines",),
    "tutor": ("tutor", "content.model", "content.expressions", "content.words", "content.leaks", "engines.base"),
    "bot": ("bot", "tutor", "content.model", "engines.base"),
    # the composition root puts parts together
    "bot.cli": PACKAGES,
    "bot.__main__": PACKAGES,
}
# what is behind a door of its own, whatever ALLOWED says of the package around it
FORBIDDEN: dict[str, tuple[str, ...]] = {"bot": ("tutor.store",)}
# third-party packages that only one place may touch
ONLY_IN: dict[str, tuple[str, ...]] = {
    "discord": ("bot",),
    "sqlite_utils": ("tutor.store",),
    "sqlite3": ("tutor.store", "content.readers.anki_collection"),
    "xllamacpp": ("engines.llamacpp",),
    "openai": ("engines.openai_http",),
    "triton": ("engines.paged_kernel",),
    "prometheus_client": ("engines.metrics",),
}
# the pure core: no clock, no file, no randomness, no network, no other layer
PURE: dict[str, tuple[str, ...]] = {
    "content.model": ("dataclasses", "enum", "typing", "collections", "datetime", "pathlib", "__future__"),
    "engines.base": ("dataclasses", "enum", "typing", "collections", "__future__"),
}
# modules of the tutor that are not pure: use cases, and what they load and save with
USE_CASES = ("tutor.service", "tutor.answering", "tutor.live_service", "tutor.drafts_service", "tutor.retrieval", "tutor.store")
IMPURE = ("time", "os", "socket", "asyncio", "sqlite3", "secrets", "subprocess", "aiohttp", *USE_CASES)


def modules() -> list[tuple[str, Path]]:
    found: list[tuple[str, Path]] = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            found.append((".".join(parts).removesuffix(".__init__"), path))
    return found


def imports(path: Path, module: str) -> list[tuple[int, str]]:
    found: list[tuple[int, str]] = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found += [(node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: write the whole package name, not a relative import"
            found += [(node.lineno, f"{node.module}.{alias.name}") for alias in node.names]
    return found


def within(name: str, allowed: tuple[str, ...]) -> bool:
    return any(name == prefix or name.startswith(prefix + ".") for prefix in allowed)


def violations(module: str, imported: list[tuple[int, str]]) -> list[str]:
    parts = module.split(".")
    allowed = next(ALLOWED[key] for end in range(len(parts), 0, -1) if (key := ".".join(parts[:end])) in ALLOWED)
    faults: list[str] = []
    for line, name in imported:
        top = name.partition(".")[0]
        if top in PACKAGES and not within(name, allowed) and name not in PACKAGES:
            faults.append(f"{module}:{line}: imports {name}; allowed: {', '.join(allowed)}")
        forbidden = () if module.startswith("bot.cli") or module == "bot.__main__" else FORBIDDEN.get(module.partition(".")[0], ())
        if within(name, forbidden):
            faults.append(f"{module}:{line}: imports {name}; ask the service instead")
        if top in ONLY_IN and not within(module, ONLY_IN[top]):
            faults.append(f"{module}:{line}: imports {top}; only {', '.join(ONLY_IN[top])} may")
        if module in PURE and not within(name, PURE[module]):
            faults.append(f"{module}:{line}: imports {name}; this module is plain values")
        if module.startswith("tutor.") and not within(module, USE_CASES) and within(name, IMPURE):
            faults.append(f"{module}:{line}: imports {name}; the core is pure, pass the fact in")
    return faults


def test_every_import_points_the_allowed_way() -> None:
    faults = [fault for module, path in modules() for fault in violations(module, imports(path, module))]
    assert not faults, "\n".join(faults)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("tutor.rounds", "discord"),
        ("tutor.rounds", "time"),
        ("content.load", "tutor.store"),
        ("bot.views.solo", "tutor.store"),
        ("engines.quoting", "tutor.grounding"),
        ("engines.base", "openai"),
    ],
)
def test_a_planted_wrong_import_is_caught(module: str, name: str) -> None:
    assert violations(module, [(1, name)])
