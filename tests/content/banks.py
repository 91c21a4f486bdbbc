"""Large question banks for measurements: sound, varied, and the same for the same seed."""

from __future__ import annotations

from random import Random

WORDS = (
    "kernel thread block grid memory engine tensor layer fusion batch profile shape tactic plan builder runtime cache stream event warp "
    "register shared global scale zero point weight activation calibration"
).split()


def bank(count: int, languages: tuple[str, ...] = ("en",), *, seed: int = 1, name: str = "bank") -> str:
    """A quiz file of `count` single-choice questions with feedback and explanation."""
    random = Random(seed)

    def text(words: int) -> str:
        return "{" + ", ".join(f'{language}: "{" ".join(random.choices(WORDS, k=words)).capitalize()}"' for language in languages) + "}"

    lines = ["schema: quiz/1", f"id: {name}", "version: 1", f"title: {text(3)}", f"languages: [{', '.join(languages)}]", "questions:"]
    for number in range(count):
        lines.append(
            f"- id: q{number}\n  type: single\n  stem: {text(10)}\n  difficulty: 3\n  time_limit: 60\n  facts: [T-001]\n  choices:"
        )
        key = random.randrange(4)
        for at, letter in enumerate("abcd"):
            right = "\n    correct: true" if at == key else ""
            lines.append(f"  - id: {letter}\n    text: {text(5)}{right}\n    feedback: {text(8)}")
        lines.append(f"  explanation: {text(12)}")
    return "\n".join(lines) + "\n"
