# Studyhall 的界面文字（简体中文）：自学、提问、阅读。这里没有的条目显示英文。
# 斜杠命令的文字排在最前：名称最多 32 个字符、小写；说明最多 100 个字符。

cmd-quiz = 测验
    .description = 做测验
cmd-quiz-play = 开始
    .description = 按自己的节奏独自做一份测验
cmd-ask = 提问
    .description = 提出问题，回答会引用指南并注明出处
cmd-guide = 指南
    .description = 逐节阅读指南
cmd-help = 帮助
    .description = 这个机器人能做什么，以及现在由谁回答你的问题
opt-quiz = 测验
    .description = 选择测验
opt-questions = 题数
    .description = 做多少道题（不填则做全部）
opt-language = 语言
    .description = 测验及相关文字使用的语言
opt-mode = 模式
    .description = 练习：每答一题就讲解；考试：全部答完再讲解
opt-shuffle = 打乱
    .description = 打乱题目和选项的顺序（不填则打乱）
opt-question = 问题
    .description = 你想知道什么
opt-guide = 指南
    .description = 向哪份指南提问（不填则查所有指南）
opt-topic = 主题
    .description = 选择指南
opt-section = 章节
    .description = 从哪一节开始读
opt-private = 仅自己可见
    .description = 回答只显示给你自己
choice-practice = 练习
choice-exam = 考试

# 单人答题
round-title = { $title } · 第 { $number } 题，共 { $total } 题
round-score = 得分 { $points } / { $possible }
round-time-hint = 建议用时约 { $seconds } 秒。
round-multiple = 选出所有正确答案，关闭菜单即提交。
round-choose-one = 请选择一个答案。
round-truefalse = 对还是错？
round-short = 点按钮，输入你的答案。
round-order = 点按钮，排出正确顺序。
round-match = 点按钮，逐一配对。
round-fallback = 这段内容还没有你的语言版本，以{ $language }显示。
round-resumed = 你之前做到这里了：从第 { $number } 题继续。
round-offer = 你有一轮没做完的 **{ $title }**：做到第 { $number } 题，共 { $total } 题，目前得 { $points } 分。
button-resume = 继续
button-afresh = 重新开始
button-next = 下一题
button-finish = 查看结果
button-why = 为什么？
button-end = 结束本轮
button-type = 输入答案
button-order = 排序
button-match = 配对
button-again = 再做一次
button-review = 查看第 { $number } 题
button-read = 阅读：{ $heading }
choose-placeholder = 选择你的答案（可多选）
choose-one-placeholder = 选择你的答案
answer-true = 对
answer-false = 错
modal-answer = 你的答案
modal-place = 第 { $number } 位
modal-gap = 第 { $number } 空
verdict-right = 答对了
verdict-partly = 部分正确
verdict-wrong = 没答对
verdict-ungraded = 已记录
judged-title = { $verdict } · 第 { $number } 题，共 { $total } 题
judged-yours = 你的答案
judged-right = 正确答案
judged-why = 解析
judged-section = 指南中的相关章节
result-title = { $title } · 结果
result-score = **得分 { $points } / { $possible }**（{ $share }%）
result-tally = 答对 { $right } 题，部分正确 { $partly } 题，未答对 { $wrong } 题
result-time = 用时：{ $time }
result-reread = 建议重读
result-perfect = 没有需要重读的内容：你全部答对了。
result-nothing = 一道题也没有作答。
result-questions = 你的作答情况
duration = { $minutes } 分 { $seconds } 秒

# 回答
ask-thinking = 正在查阅指南……
ask-quote = 指南原文
ask-quote-language = 指南原文（{ $language }）
ask-reason-no_model = 目前没有运行语言模型，先看看指南是怎么说的。
ask-reason-unverified = 模型的说法无法在指南中得到证实，所以直接给出指南原文。
ask-reason-engine_failed = 语言模型没有及时回答，先看看指南是怎么说的。
ask-reason-language = 语言模型还写不好这种语言，所以直接给出指南原文。
ask-refusal-not_covered = 指南没有讲到这个问题。
ask-refusal-off_topic = 这个问题不在这些指南的范围之内。
ask-refusal-locked = 那道题还没有结束，答案暂时保密。
ask-nearest = 指南中最接近的内容：{ $sections }
ask-sources = 出处
ask-streaming = 正在作答……
ask-footer = { $engine } · { $seconds } 秒
button-helpful = 有帮助
button-not-helpful = 没帮助
button-quote = 查看原文
ask-noted = 谢谢，已记下。

# 指南
guide-page = { $title } · { $number } / { $total }
guide-reading = 阅读约需 { $minutes } 分钟
guide-faq = 常见问题
guide-next = 下一份指南：{ $title }
guide-related = 相关指南
guide-quiz = 测验：{ $title }
guide-contents = 目录
guide-glossary = 术语
guide-sources = 参考资料
guide-reviewed = 审阅日期：{ $date }
guide-level = 难度：{ $level }
guide-jump = 跳到某一节
button-previous = 上一页
button-forward = 下一页

# 帮助
help-title = Studyhall
help-text =
    • **/测验 开始**（/quiz play）：按自己的节奏做测验。每道题都有解析，点“为什么？”还可以追问指南。
    • **/提问**（/ask）：想问什么就问什么；回答会引用指南并注明出处，指南没讲到的也会如实告诉你。
    • **/指南**（/guide）：逐节阅读指南。
help-engine = 现在负责回答的是：{ $engine }
engine-quoting = 指南原文摘录（没有语言模型）
engine-model = { $model }

# 出错时给用户看的话
error-stale = 这个按钮属于一道已经答过的题。请使用本轮最新的那条消息。
error-foreign = 这一轮是别人的。想自己做，请输入 /测验 开始。
error-gone = 这里的内容已经不在了。请输入 /测验 开始，重新来过。
error-bad = 这道题不能这样作答：{ $problem }。请再试一次。
error-order-twice = 每一项只能占一个位置。请再点一次按钮重新排列；这次不计分。
error-throttled = 你的上一个问题还在回答中。请稍后再问。
error-no-quiz = 没有名为“{ $name }”的测验。请从输入时出现的列表中选择。
error-no-guide = 没有名为“{ $name }”的指南。请从输入时出现的列表中选择。
error-store = 你的答案没能保存，因此没有计分。请稍后再点一次。（编号 { $reference }）
error-unknown = 这里出了点问题，你的进度没有丢失。请再试一次；如果反复出现，请把这个编号告诉老师：{ $reference }
error-old-button = 这个按钮来自较早的消息，已经失效。请用 /测验 开始、/提问 或 /指南 重新开始。

language-en = 英语
language-ko = 韩语
language-el = 希腊语
language-ru = 俄语
language-zh = 中文
level-beginner = 初级
level-intermediate = 中级
level-advanced = 高级
