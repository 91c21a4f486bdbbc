# Texts of Studyhall, English: question banks in and out. Names of commands and options at most 32 characters, lower
# case; descriptions at most 100. Reports on files are in English in every language: they quote codes and file formats.

cmd-content = content
    .description = Question banks of this server: import, export, explain (for those who manage it)
cmd-content-import = import
    .description = Read a question bank, see what it holds, and keep it as a draft of this server
cmd-content-export = export
    .description = A quiz as a file of another program, with the list of what that cannot hold
cmd-content-list = list
    .description = The drafts of this server
cmd-content-remove = remove
    .description = Take a draft of this server away
cmd-content-explain = explain
    .description = Let explanations be proposed from a guide; you decide about each
opt-content-file = file
    .description = GIFT, Moodle XML, QTI, Kahoot, CSV, Anki, Markdown, Aiken and more; at most 8 MB
opt-content-format = format
    .description = What the file is (its content tells, if you leave this out)
opt-content-target = format
    .description = For which program
opt-content-language = language
    .description = Which language, for formats that hold only one
opt-content-draft = quiz
    .description = Which draft
opt-content-guide = guide
    .description = The guide that the explanations come from

# Import
content-title = { $file } · { $format }
content-counts = **{ $imported } of { $read } questions** can be used.
content-problems = Left out: { $errors } · changed or in doubt: { $warnings } · notes: { $notes }
content-nothing = Nothing of this file can be kept. The report says why, line by line.
content-missing = { $count ->
    [one] 1 question has no explanation yet.
   *[other] { $count } questions have no explanation yet.
}
content-unasked = { $count ->
    [one] 1 question is not asked in rounds (open, or too large for a form).
   *[other] { $count } questions are not asked in rounds (open, or too large for a form).
}
content-replaces = “{ $title }” is here already in version { $version }. **Keep as draft** makes this its next version.
content-line = line { $line }
content-whole = file
content-more = { $count ->
    [one] and 1 more
   *[other] and { $count } more
}
content-button-keep = Keep as draft
content-button-apart = Keep both
content-button-discard = Discard
content-kept = Kept: **{ $title }**, version { $version }, { $questions } questions. It can be played with /quiz play, in this server only.
content-kept-missing = { $count ->
    [one] 1 question has no explanation yet; /content explain proposes one from a guide.
   *[other] { $count } questions have no explanation yet; /content explain proposes them from a guide.
}
content-button-try = Try it
content-discarded = Discarded. Nothing was kept.
content-draft-mark = draft
content-unexplained = No explanation yet.

# List, remove
content-list-title = Drafts of this server
content-listed = **{ $title }** · version { $version } · { $questions } questions, { $missing } without explanation · { $date }
content-none = There are none. /content import brings one.
content-removed = **{ $title }** is gone from the list. Rounds under way go on; for 30 days it can be put back.
content-button-undo = Put it back
content-restored = **{ $title }** is back.

# Export
content-exported = { $written } of { $questions } questions are in the file.
content-losses = What it cannot hold:

# Explain
content-proposal = Proposed explanation · { $title }
content-no-proposal = Nothing to propose.
content-left = { $count } without explanation · { $engine } · Nothing is kept without your yes.
content-writing = The next proposal is being written …
content-explained = { $count ->
    [0] Every question of this draft has an explanation now.
    [one] That was the last one. 1 question still has no explanation.
   *[other] That was the last one. { $count } questions still have no explanation.
}
content-button-use = Use it
content-button-change = Change it
content-button-skip = Skip
content-button-go-on = Go on

# What went wrong
content-forbidden = Only those who may manage this server can do this, and only in the server.
content-refused = This cannot be used. { $problem }
content-unreachable = Discord did not hand over the file. Please send it again.
content-busy = Other files or questions are being worked on right now. Please try again in a moment.
content-too-many = A server keeps at most { $most } drafts. Take one away with /content remove first.
content-gone = This is no longer there. Start again with /content.
