# Studyhall 文本，简体中文：题库的导入与导出。关于文件的报告在任何语言中都用英文，因为其中引用代码和格式名称。

cmd-content = 内容
    .description = 本服务器的题库：导入、导出、解析（供服务器管理者使用）
cmd-content-import = 导入
    .description = 读取题库文件，查看其中内容，并保存为本服务器的草稿
cmd-content-export = 导出
    .description = 把测验导出为其他程序的文件，并列出该格式容纳不下的内容
cmd-content-list = 列表
    .description = 本服务器的草稿
cmd-content-remove = 移除
    .description = 移除本服务器的一份草稿
cmd-content-explain = 解析
    .description = 根据指南拟写解析，每一条是否采用由你决定
opt-content-file = 文件
    .description = GIFT、Moodle XML、QTI、Kahoot、CSV、Anki、Markdown、Aiken 等，最大 8 MB
opt-content-format = 格式
    .description = 文件的格式（不填则根据内容判断）
opt-content-target = 格式
    .description = 导出给哪个程序
opt-content-language = 语言
    .description = 只能容纳一种语言的格式用哪种语言
opt-content-draft = 测验
    .description = 哪一份草稿
opt-content-guide = 指南
    .description = 解析所依据的指南

# 导入
content-title = { $file } · { $format }
content-counts = { $read } 道题中有 **{ $imported } 道**可用。
content-problems = 未收入：{ $errors } · 有改动或待核对：{ $warnings } · 备注：{ $notes }
content-nothing = 这个文件没有可以保存的内容。报告逐行说明了原因。
content-missing = 有 { $count } 道题还没有解析。
content-unasked = 有 { $count } 道题不会在测验中出现（开放题，或表单容纳不下）。
content-replaces = “{ $title }”已有第 { $version } 版。点击**保存为草稿**，这个文件就成为它的下一版。
content-line = 第 { $line } 行
content-whole = 整个文件
content-more = 还有 { $count } 条
content-button-keep = 保存为草稿
content-button-apart = 两份都保留
content-button-discard = 放弃
content-kept = 已保存：**{ $title }**，第 { $version } 版，共 { $questions } 道题。可用 **/测验 开始** 作答，仅限本服务器。
content-kept-missing = 有 { $count } 道题还没有解析；**/内容 解析** 可以根据指南拟写。
content-button-try = 试一试
content-discarded = 已放弃，没有保存任何内容。
content-draft-mark = 草稿
content-unexplained = 还没有解析。

# 列表、移除
content-list-title = 本服务器的草稿
content-listed = **{ $title }** · 第 { $version } 版 · { $questions } 道题，{ $missing } 道没有解析 · { $date }
content-none = 还没有草稿。可以用 **/内容 导入**。
content-removed = 已把 **{ $title }** 从列表中移除。正在进行的测验可以继续；30 天内可以恢复。
content-button-undo = 恢复
content-restored = 已恢复 **{ $title }**。

# 导出
content-exported = 文件中有 { $questions } 道题中的 { $written } 道。
content-losses = 这种格式容纳不下的内容：

# 解析
content-proposal = 拟写的解析 · { $title }
content-no-proposal = 没有可以拟写的内容。
content-left = 没有解析：{ $count } 道 · { $engine } · 未经你同意，什么都不会保存。
content-writing = 正在拟写下一条……
content-explained = { $count ->
    [0] 这份草稿的每道题现在都有解析了。
   *[other] 这是最后一道。还有 { $count } 道题没有解析。
}
content-button-use = 采用
content-button-change = 修改
content-button-skip = 跳过
content-button-go-on = 继续

# 出了什么问题
content-forbidden = 只有能管理本服务器的人才可以这样做，而且只能在服务器里。
content-refused = 无法使用。{ $problem }
content-unreachable = Discord 没有交出文件，请重新发送。
content-busy = 现在正在处理其他文件或问题，请稍后再试。
content-too-many = 一个服务器最多保存 { $most } 份草稿。请先用 **/内容 移除** 去掉一份。
content-gone = 已经不在了。请用 **/内容** 重新开始。
