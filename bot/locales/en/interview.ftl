# Texts of Studyhall, English: the interview bank. A text that a language lacks falls back to English.
# Slash-command texts come first: names at most 32 characters, lower case; descriptions at most 100.

cmd-interview = interview
    .description = Practise open interview questions, with follow-ups, a reference answer and a self-check
opt-interview-part = part
    .description = Which part of the interview bank (all of them, if you leave this out)

interview-title = { $title } · question { $number } of { $total }
interview-probe = Follow-up { $number } of { $total }
interview-footer = Difficulty { $stars } · { $points } points to reach
interview-yours = Your answer
interview-length = { $least } to { $most } characters. It is shown to you and kept nowhere.
interview-check = Self-check: { $points } of { $possible } points
interview-check-note = Tick what your answer has. Nobody grades it, and nothing is kept.
interview-tick = Tick what your answer has
interview-points = { $points ->
    [one] { $points } point
   *[other] { $points } points
}
interview-reference = Reference answer
interview-rubric = **What counts** · { $points } points
interview-page = Page { $number } of { $total }
interview-no-reference = There is no reference answer to this question yet.
interview-none = There are no interview questions here yet.
button-interview-write = Write my answer
button-interview-again = Write it again
button-interview-probe = Follow-up
button-interview-reference = Show the reference
help-interview = **/interview** – practise open questions: write an answer, take follow-ups, compare with the reference.
