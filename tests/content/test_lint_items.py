"""Item-writing rules in five languages: what they catch, and the sound items that they must leave alone.

Each list holds sentences as authors write them. A rule that flags the second list would be switched off by its users.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from content.check import check
from content.lint_items import normal
from content.lint_words import reading_s
from content.load import load_library
from content.model import Fault
from tests.content.writing import HEAD, write


def codes(folder: Path, text: str) -> list[Fault]:
    quiet = ("EXPLANATION-MISSING", "FEEDBACK-MISSING", "YAML-NUMBER")
    return [fault for fault in check(load_library([write(folder, {"quizzes/tcp.quiz.yaml": text})])) if fault.code not in quiet]


def single(stem: str, options: tuple[str, ...], language: str = "en", *, name: str = "q", key: int = 0) -> str:
    lines = [f"- id: {name}", "  type: single", f"  stem: {{{language}: {stem!r}}}", "  choices:"]
    for at, option in enumerate(options):
        lines.append(f"  - {{id: c{at}, text: {{{language}: {option!r}}}{', correct: true' if at == key else ''}}}")
    return "\n".join(lines) + "\n"


def head(language: str) -> str:
    return HEAD.replace("languages: [en]", f"languages: [{language}]")


ALL_OR_NONE = [
    ("en", "All of the above"),
    ("en", "None of the above."),
    ("en", "none of these"),
    ("en", "Both of the above"),
    ("en", "Any of them"),
    ("ko", "위의 모두"),
    ("ko", "위 보기 중 없음"),
    ("ko", "모두 정답"),
    ("ko", "해당 없음"),
    ("el", "Όλα τα παραπάνω"),
    ("el", "Κανένα από τα παραπάνω"),
    ("ru", "Всё вышеперечисленное"),
    ("ru", "Все перечисленные"),
    ("ru", "Ни один из перечисленных"),
    ("ru", "Нет правильного ответа"),
    ("zh", "以上都是"),
    ("zh", "以上都不是"),
    ("zh", "上述选项都正确"),
    ("zh", "以上选项均不正确"),
]


@pytest.mark.parametrize(("language", "option"), ALL_OR_NONE)
def test_all_and_none_of_the_above_are_found_in_five_languages(tmp_path: Path, language: str, option: str) -> None:
    found = codes(tmp_path, head(language) + single("X?", ("SYN", "FIN", option), language))
    assert [(fault.code, fault.line) for fault in found] == [("OPTION-ALL-NONE", 13)]


@pytest.mark.parametrize(
    ("language", "option"),
    [
        ("en", "All threads of a warp run the same instruction"),
        ("en", "None, because the plan is rebuilt"),
        ("en", "Allocate above the limit"),
        ("en", "It reserves all of it"),
        ("ko", "위치 인코딩을 모두 계산한다"),
        ("ko", "모든 스레드가 같은 명령을 실행한다"),
        ("el", "Όλα τα νήματα εκτελούν την ίδια εντολή"),
        ("ru", "Все потоки варпа выполняют одну инструкцию"),
        ("zh", "以太网"),
        ("zh", "全部线程执行同一条指令"),
    ],
)
def test_options_that_begin_alike_are_left_alone(tmp_path: Path, language: str, option: str) -> None:
    assert codes(tmp_path, head(language) + single("X?", ("SYN", "FIN", option), language)) == []


NEGATIVE = [
    ("en", "Which of these is not part of a plan?", "is not"),
    ("en", "Which statement about the builder isn't true?", "isn't"),
    ("en", "Which layers does the parser not support?", None),
    ("en", "Which GPU cannot run this engine?", "cannot"),
    ("en", "What is not stored in a plan?", "is not"),
    ("en", "All of these are formats except one. Which?", "except"),
    ("en", "Which statement is false?", "is false"),
    ("ko", "다음 중 플랜에 포함되지 않는 것은?", "않는"),
    ("ko", "옳지 않은 설명은 무엇인가요?", "옳지 않은"),
    ("ko", "다음 중 틀린 것은 무엇인가요?", "틀린"),
    ("el", "Ποιο από τα παρακάτω δεν ανήκει στο σχέδιο;", "δεν"),
    ("el", "Ποια δήλωση είναι λανθασμένη;", "λανθασμένη"),
    ("ru", "Что из перечисленного не входит в план?", "не"),
    ("ru", "Какое утверждение неверно?", "неверно"),
    ("zh", "下列哪项不属于计划文件？", "不"),
    ("zh", "以下说法错误的是？", "错误"),
]


@pytest.mark.parametrize(("language", "stem", "word"), NEGATIVE)
def test_a_stem_that_asks_for_what_is_not_wants_emphasis(tmp_path: Path, language: str, stem: str, word: str | None) -> None:
    found = codes(tmp_path, head(language) + single(stem, ("SYN", "FIN", "RST"), language))
    if word is None:
        assert found == [], "a negation far from its verb is not recognised, and not worth a false alarm"
        return
    assert [(fault.code, fault.line) for fault in found] == [("STEM-NEGATIVE", 9)]
    assert word in found[0].what
    assert codes(tmp_path, head(language) + single(stem.replace(word, f"**{word}**"), ("SYN", "FIN", "RST"), language)) == []


@pytest.mark.parametrize(
    ("language", "stem"),
    [
        ("en", "What happens when the shape does not fit the profile?"),
        ("en", "Which error is raised if the plan is not loaded?"),
        ("en", "Why does the engine not load on another GPU?"),
        ("en", "Which level needs at least compute capability 8.0?"),
        ("en", "Which word is NOT a flag?"),
        ("en", "Which flag is *not* set?"),
        ("ko", "플랜을 불러올 수 없으면 어떻게 되나요?"),
        ("el", "Τι συμβαίνει όταν το σχήμα δεν ταιριάζει;"),
        ("ru", "Что произойдёт, если план не загрузится?"),
        ("zh", "如果形状不匹配，会发生什么？"),
        ("zh", "为什么引擎不能在另一种 GPU 上运行？"),
    ],
)
def test_a_stem_that_tells_what_is_not_is_left_alone(tmp_path: Path, language: str, stem: str) -> None:
    assert codes(tmp_path, head(language) + single(stem, ("SYN", "FIN", "RST"), language)) == []


@pytest.mark.parametrize(
    ("language", "option", "other"),
    [
        ("en", "It is always faster", "never slow"),
        ("ko", "항상 더 빠르다", "결코 느리지 않다"),
        ("el", "Είναι πάντα ταχύτερο", "ποτέ αργό"),
        ("ru", "Это всегда быстрее", "никогда не медленно"),
        ("zh", "总是更快", "绝不会慢"),
    ],
)
def test_an_absolute_word_is_noted_unless_the_key_has_one_too(tmp_path: Path, language: str, option: str, other: str) -> None:
    found = codes(tmp_path, head(language) + single("X?", ("SYN", option, "RST"), language))
    assert [(fault.code, fault.line) for fault in found] == [("OPTION-ABSOLUTE", 12)]
    assert codes(tmp_path, head(language) + single("X?", (option, "SYN", other), language)) == []


@pytest.mark.parametrize(
    ("one", "two", "code"),
    [
        ("Shared memory", "shared  memory.", "OPTION-DUPLICATE"),
        ("`enqueueV3`", "enqueueV3", "OPTION-DUPLICATE"),
        ("10-20 ms", "15 – 30 ms", "OPTION-OVERLAP"),
        ("the runtime", "the runtime and the builder", "OPTION-OVERLAP"),
        ("共享内存", "共享内存 和寄存器", "OPTION-OVERLAP"),
        ("10-20 ms", "20-30 ms", None),
        ("10-20 ms", "15-30 s", None),
        ("mb", "MB", None),
        ("C", "C++", None),
        ("<", "<=", None),
        ("-1", "1", None),
        ("memory", "memorylessness", None),
        ("x²", "x2", None),
    ],
)
def test_options_that_say_the_same_or_include_each_other_are_found(tmp_path: Path, one: str, two: str, code: str | None) -> None:
    found = codes(tmp_path, HEAD + single("X?", ("something else", one, two)))
    assert [fault.code for fault in found] == ([code] if code else [])


def test_keys_at_one_place_are_reported_from_four_questions_on(tmp_path: Path) -> None:
    def quiz(keys: list[int]) -> str:
        rows = [single(f"Q {at}?", (f"a{at}", f"b{at}", f"c{at}", f"d{at}"), name=f"q{at}", key=key) for at, key in enumerate(keys)]
        return HEAD + "".join(rows)

    found = codes(tmp_path, quiz([1, 1, 1, 1, 1, 0, 2, 3]))
    assert [fault.code for fault in found] == ["KEY-POSITION"]
    assert "5 of 8 keys are at position 2." in found[0].what
    assert codes(tmp_path, quiz([1, 1, 1, 1, 0, 0, 2, 3])) == []
    assert codes(tmp_path, quiz([1, 1, 1])) == []


def test_true_false_questions_that_are_all_true_are_reported(tmp_path: Path) -> None:
    rows = [f"- {{id: q{at}, type: truefalse, stem: {{en: S {at}.}}, answer: true}}\n" for at in range(4)]
    assert [fault.code for fault in codes(tmp_path, HEAD + "".join(rows))] == ["KEY-POSITION"]
    assert codes(tmp_path, HEAD + "".join(rows).replace("answer: true", "answer: false", 1)) == []


def test_the_longest_option_being_right_is_counted_per_language(tmp_path: Path) -> None:
    text = HEAD.replace("[en]", "[en, ko]")
    for at in range(4):
        text += f"- id: q{at}\n  type: single\n  stem: {{en: Q{at}?, ko: 질{at}?}}\n  choices:\n"
        for place, letter in enumerate("abcd"):
            right = place == at
            words = "a long and careful answer" if right else f"short answer {place} here anyway"
            korean = "길고 자세한 답" if right else f"답{place}"
            text += f"  - {{id: {letter}, text: {{en: {words}, ko: {korean}}}{', correct: true' if right else ''}}}\n"
    found = [fault for fault in codes(tmp_path, text) if fault.code == "KEY-LENGTH"]
    assert len(found) == 1
    assert "4 of 4 questions (ko)" in found[0].what


@pytest.mark.parametrize(
    ("key", "stem", "flagged"),
    [
        ("the optimization profile", "Where is the optimization profile stored?", True),
        ("the optimization profile", "Where is the profile for optimization stored?", False),
        ("enqueueV3", "What does enqueueV3 need?", True),
        ("memory", "Which memory is fast?", False),
        ("共享内存", "共享内存在哪里？", True),
        ("内存", "内存在哪里？", False),
    ],
)
def test_a_stem_that_gives_another_key_away_is_found(tmp_path: Path, key: str, stem: str, flagged: bool) -> None:
    text = HEAD + single("What is it?", ("nothing", key, "something"), name="one", key=1) + single(stem, ("here", "there"), name="two")
    assert [(fault.code, fault.line) for fault in codes(tmp_path, text)] == ([("STEM-GIVEAWAY", 16)] if flagged else [])


def test_a_key_that_is_the_vocabulary_of_the_quiz_is_no_giveaway(tmp_path: Path) -> None:
    text = HEAD + single("What is it?", ("nothing", "the optimization profile", "something"), name="one", key=1)
    text += "".join(single(f"Where is the optimization profile {at}?", (f"a{at}", f"b{at}"), name=f"q{at}") for at in range(3))
    assert codes(tmp_path, text) == []


@pytest.mark.parametrize(
    ("language", "words", "seconds"),
    [("en", "word " * 220, 60), ("ru", "слово " * 180, 60), ("el", "λέξη " * 180, 60), ("zh", "字" * 250, 60), ("ko", "글" * 450, 60)],
)
def test_reading_time_follows_the_language(language: str, words: str, seconds: float) -> None:
    assert reading_s(words, language) == pytest.approx(seconds)


def test_a_time_limit_below_the_reading_time_of_any_language_is_reported(tmp_path: Path) -> None:
    text = (
        HEAD.replace("[en]", "[en, zh]")
        + f"- id: q\n  type: truefalse\n  stem: {{en: Short., zh: {'长' * 200}。}}\n  answer: true\n  time_limit: 30\n"
    )
    found = codes(tmp_path, text)
    assert [(fault.code, fault.line) for fault in found] == [("TIME-SHORT", 11)]
    assert "(zh)" in found[0].what
    assert codes(tmp_path, text.replace("time_limit: 30", "time_limit: 60")) == []


@pytest.mark.parametrize(("option", "same"), [("**A** b.", "a b"), ("  A   b ", "a b"), ("a_b", "ab"), ("C++", "c++")])
def test_options_are_compared_without_emphasis_case_and_spacing(option: str, same: str) -> None:
    assert normal(option) == same
