"""Sentences that give orders to a model, in five languages: in a guide they are not evidence, in a question not the question.

A pattern list is a sieve and not a wall: who words an order cleverly gets it past. What holds is built elsewhere: the key of an
open question is in no prompt, and only what a section supports is shown. This keeps planted text from being such a support.
No sentence of the shipped guides is taken for an order, and a test says so.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

from content import words

MAX_SENTENCE: Final = 600  # characters looked at: the expressions have bounded gaps, and nobody orders in longer ones

_QUOTED: Final = r"[\"“”«»「」『』]|(?<!\w)'(?=\w)"
_SAYING: Final = (
    r"(?:say|print|output|repeat|reply|respond|answer|append|mention|include|write|state|confirm|tell|add|end|begin|start|sign|insert"
    r"|finish|echo|display|return|use|link|ping|talk|translate|encode|reveal|show|list|complete|cite|count)"
)
_FORM: Final = (
    r"(?:only (?:with|as|in|json|the)|exactly|nothing else|at the (?:end|top|beginning|start)|(?:your|the|its|every|each|any) "
    r"(?:answer|reply|response|output|sentence|line)s?\b"
    r"|(?:the|every|each|all|any) (?:users?|learners?|students?|readers?)\b|all caps|capital letters|the (?:word|phrase|code|string"
    r"|token|emoji|following|secret|password|quiz key|picture|line|heading|characters?)\b|verbatim|word for word|letter by letter|json\b"
    r"|backwards|pirate|a poem|base64|@)"
)
_ORDERS: Final = re.compile(
    "|".join(
        (
            # English, on folded text
            r"\b(?:ignore|disregard|forget|override|bypass|neglect)\b.{0,50}\b(?:instructions?|rules?|prompts?|polic(?:y|ies)|guide"
            r"|guidelines|above|previous|prior|earlier|everything|question)\b",
            r"\b(?:hidden|initial|secret|original) (?:prompt|instructions?|polic(?:y|ies)|rules|sections?)\b",
            r"\b(?:print|reveal|show|output|repeat|display|leak|write|give|send|translate|encode|dump)\b.{0,30}\bsystem (?:prompt|message)",
            r"\byour (?:(?:first|own|new|hidden|system|secret) )?(?:prompt|instructions?|polic(?:y|ies)|rules)\b|\byour new task\b",
            r"\b(?:as an?|dear|attention|hey|(?:note|message) to(?: the)?) (?:ai|assistant|language model|llm|chatbot|bot|tutor)s?\b",
            r"\b(?:ai|language) models? (?:that |who )?(?:reading|reads?|must|should|please)\b",
            r"\byou are an? (?:ai|language model|llm|bot)\b",
            r"^\W*(?:system|assistant|user|developer|instructions?|response|new (?:instructions?|rules)|override|admin)\s*[:,>]",
            r"###\s*(?:instruction|response|system)|\bassistant(?:, (?:say|confirm|write|answer|reply)|:)",
            r"\b(?:tutor|assistant|chatbot|bot|ai) (?:must|should|shall|has to|needs to|will now|is to)\b",
            r"\byou (?:are|act) (?:now|no longer|in developer|free|dan|a parrot|hereby)\b",
            r"\bfrom now on,? (?:you|answer|respond|reply|every)\b",
            r"\b(?:pretend (?:you|to be|that|the)|act as (?:an?|if)|role ?play|do not (?:answer|follow|trust)|developer mode|debug mode)\b",
            rf"(?:^\W*|[,;:] |\b(?:must|should|please|now|always|and|then|instead|to|has to|so)\b[\s,]{{1,3}}){_SAYING}\b.{{0,70}}"
            rf"(?:{_QUOTED}|{_FORM})",
            r"\bwhen(?:ever)? (?:you are |someone |anyone )?ask(?:s|ed)?\b.{0,40}\b(?:reply|say|answer|respond|tell)\b",
            r"\b(?:correct|proper|expected|only) (?:reply|answer|response)(?: to any\w*.{0,20}| here)? ?(?:is\b|:)",
            r"\bthe answer to (?:everything|all|any)\b",
            r"\b(?:whoever|anyone who|everyone who) (?:summari|read|answer|process)",
            r"\b(?:click|visit|open|go to|send|e-?mail|contact|buy|subscribe|join)\b.{0,60}(?:https?:|www\.|\w@\w|\.example\b|\bhere\b)",
            r"\blink\b.{0,20}https?:|!\[[^\]\n]{0,80}\]\(https?:|https?:\S{1,80} ?링크",
            r"@(?:everyone|here)\b|<[@#][!&]?\d|<\|[^|<>]{0,40}\|>|\[/?inst\]|</?s>|<</?sys>>|[\[【]s\d{1,3}[\]】]",
            # Korean
            r"(?:이전|앞|위|기존|모든|지금까지).{0,12}(?:지시|명령|규칙|지침|설정|내용).{0,10}(?:무시|잊|따르지)",
            r"(?:가이드|규칙)[는은를을]? ?잊",
            r"프롬프트[를을]? ?(?:출력|보여|알려|말)|숨겨진 ?지침",
            r"(?:어시스턴트|챗봇|언어 ?모델)(?:에게|야| ?[:,])|읽는 ?ai|너는 .{0,12}(?:ai|해적)",
            r"(?:지금|이제)부터 (?:너|당신|모든|답)|라고만? ?(?:꼭 )?(?:답|말|출력|대답|적|써|쓰)",
            r"[\"”」] ?(?:[을를] )?(?:출력|말|대답|적|반복|써)",
            r"(?:출력|복창|반복|대답|답변)(?:하|해) ?(?:세요|라|십시오|시오|줘|주세요|야)|답변? (?:끝|마지막)에|문장 끝에.{0,12}붙",
            r"(?:사용자|학습자|독자|학생)에게.{0,60}(?:말하|말해|알리|반복|보내)|멘션|json으로만|지시문을",
            # Greek, folded: no accents, one sigma
            r"\b(?:αγνοησ|αγνοειστε|αγνοειτε)\w*.{0,40}(?:οδηγι|κανον|προηγ|παραπαν)|\bξεχν?α(?:σε|στε)?\b.{0,30}(?:οδηγ|κανον|παραπαν)",
            r"(?:τυπωσε|δειξε|γραψε|εμφανισε|εκτυπωσε).{0,30}prompt|κρυφεσ οδηγιεσ|\bπροσ τον? βοηθο",
            r"γλωσσικο μοντελο.{0,40}(?:διαβαζ|πρεπει)",
            r"\bοδηγιεσ (?:σου|που εχεισ)",
            r"\bαπο (?:εδω και περα|τωρα και στο εξησ)|\bεισαι (?:πλεον|τωρα|πειρατησ|ενα ai)",
            r"(?:^\W*|\b(?:και|να|τωρα|μονο|παντα)\b[\s,]{1,3})(?:γραψε|γραψει|πεσ|πει|τυπωσε|εκτυπωσε|απαντησε|απαντασ|επαναλαβε|προσθεσε|βαλε|στειλε"
            rf"|αναφερε|κανε)\b.{{0,60}}(?:{_QUOTED}|\bοτι\b|μονο|στο τελοσ|τη λεξη|τη φραση|στον? (?:μαθητη|χρηστη)"
            r"|τον συνδεσμο|json|@|κεφαλαια|πειρατ)",
            r"\bωσ πηγη γραψε|τον κωδικο\b.{0,20}[α-ω]+-\d",
            # Russian, folded
            r"\b(?:игнорир|проигнорир|забуд)\w*.{0,40}(?:инструкц|правил|указани|выше|предыдущ|руководств)|(?:выведи|вывести|покажи|напечата).{0,30}промпт",
            r"скрыт\w* указани|\bинструкци\w+, которые стоят|\b(?:ассистент|помощник)\w{0,3}\s*[:,]|языков\w+ модел\w+, (?:чита|прочит)",
            r"\b(?:отныне|с этого момента|теперь ты)\b|\bты (?:теперь|больше не|пират)\b",
            r"(?:^\W*|\b(?:и|обязательно|всегда|должна?)\b[\s,]{1,3})(?:скажи|напиши|пиши|выведи|вывести|повтори|ответь|отвечаи|добавь|упомяни|вставь"
            rf"|покажи|укажи)\b.{{0,60}}(?:{_QUOTED}|только|в конце|слово|код\b|ученик|пользовател"
            r"|ссылк|json|@|заглавн|пират|дословно|что луна)",
            r"\bв конце (?:ответа |обязательно )|источником укажи|ученику открыть",
            # Chinese
            r"(?:忽略|无视|忘记|忘掉|不要理会).{0,12}(?:指令|规则|以上|上面|之前|内容|指南|提示词)",
            r"(?:打印|输出|显示|告诉|泄露).{0,8}提示词|把系统提示词?.{0,8}(?:打印|输出|显示)|隐藏指令|上面的指令",
            r"(?:致|亲爱的)(?:助手|ai)|(?:助手|人工智能|语言模型|的ai).{0,8}(?:请|必须|应该|需要)|从现在起|你现在是|你不再是|没有规则的ai",
            r"(?:^\W*|[,，、]|请|必须|只|要|应|结尾|末尾|后面)(?:说出|先说|输出|打印|重复|回复|回答|写上|加上|附上|说).{0,12}[“\"「『]",
            r"(?:只|仅)(?:用json)?(?:回答|输出|回复)|告诉(?:用户|学习者|学生|读者)",
            r"向用户|逐字|代号|口令|附上链接|来源请写|末尾必须|通知大家|忘掉指南",
        )
    )
)
# an order to say something in capitals or with marks inside, looked for in the text as it is
_TOKEN: Final = re.compile(
    rf"\b(?i:{_SAYING}(?! to\b)|answers? with|sign as)\b[^.\n]{{0,50}}"
    r"\b(?:[A-Z][A-Z0-9]*(?:[-_][A-Z0-9]+)+\b|[A-Z]{7,}\b|[a-z]+(?:-[a-z0-9]+)*-\d+\b)"
)
_BREAK: Final = re.compile(r"(?<=[.!?。！？;])\s+|(?<=[。！？])|\n+")
_ASKS: Final = re.compile(r"[?？;]\W*$")
_HTML: Final = re.compile(r"<!--.{0,2000}?-->", re.DOTALL)


def is_order(sentence: str) -> bool:
    """Whether a sentence tells a model what to do, instead of saying something about the subject."""
    sentence = "".join(mark for mark in sentence[:MAX_SENTENCE] if unicodedata.category(mark) not in ("Cf", "Co", "Cn"))
    return bool(_ORDERS.search(words.folded(sentence)) or _TOKEN.search(sentence))


@lru_cache(maxsize=2_048)
def parted(text: str) -> tuple[str, str]:
    """A question without its sentences that are orders, and those sentences; after an order, only a question is none."""
    plain: list[str] = []
    ordered: list[str] = []
    for sentence in _BREAK.split(text):
        if sentence.strip():
            goes_on = bool(ordered) and not _ASKS.search(sentence)
            (ordered if goes_on or is_order(sentence) else plain).append(sentence.strip())
    return " ".join(plain), " ".join(ordered)


@lru_cache(maxsize=2_048)
def parted_guide(text: str) -> tuple[str, str]:
    """Guide text without its paragraphs that hold an order, and those paragraphs: what follows an order belongs to it."""
    plain: list[str] = []
    ordered: list[str] = []
    for paragraph in re.split(r"\n{2,}", _HTML.sub("", text)):
        holds = any(is_order(sentence) for sentence in [" ".join(paragraph.split()), *_BREAK.split(paragraph)] if sentence.strip())
        (ordered if holds else plain).append(paragraph)
    return "\n\n".join(plain), "\n\n".join(ordered)
