# Studyhall 的界面文字（简体中文）：面试题库。这里没有的条目显示英文。
# 斜杠命令的文字排在最前：名称最多 32 个字符、小写；说明最多 100 个字符。

cmd-interview = 面试
    .description = 练习开放式面试题：有追问、参考答案和自评
opt-interview-part = 部分
    .description = 选择题库的哪个部分（不填则从全部中抽题）

interview-title = { $title } · 第 { $number } 题，共 { $total } 题
interview-probe = 追问 { $number } / { $total }
interview-footer = 难度 { $stars } · 满分 { $points } 分
interview-yours = 你的回答
interview-length = { $least } 到 { $most } 个字符。只显示给你看，不会保存。
interview-check = 自评：{ $points } / { $possible } 分
interview-check-note = 勾选你的回答做到的要点。没有人评分，也不会保存任何内容。
interview-tick = 勾选你的回答做到的要点
interview-points = { $points } 分
interview-reference = 参考答案
interview-rubric = **评分要点** · 共 { $points } 分
interview-page = 第 { $number } 页，共 { $total } 页
interview-no-reference = 这道题还没有参考答案。
interview-none = 这里还没有面试题。
button-interview-write = 写下回答
button-interview-again = 重新写
button-interview-probe = 追问
button-interview-reference = 查看参考答案
help-interview = **/面试**（/interview）：练习开放题。写下回答，接受追问，再与参考答案对照。
