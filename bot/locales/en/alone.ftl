# Texts of Studyhall, English: learning alone, asking, reading. A text that a language lacks falls back to English.
# Slash-command texts come first: names at most 32 characters, lower case; descriptions at most 100.

cmd-quiz = quiz
    .description = Play a quiz
cmd-quiz-play = play
    .description = Play a quiz on your own, at your own pace
cmd-ask = ask
    .description = Ask a question; the answer quotes and cites the guide
cmd-guide = guide
    .description = Read a guide, section by section
cmd-help = help
    .description = What this bot can do, and what answers your questions right now
opt-quiz = quiz
    .description = Which quiz
opt-questions = questions
    .description = How many questions (all, if you leave this out)
opt-language = language
    .description = Language of the quiz and of the texts around it
opt-mode = mode
    .description = Practice explains after each answer, exam at the end
opt-shuffle = shuffle
    .description = Mix questions and choices (yes, if you leave this out)
opt-question = question
    .description = What you want to know
opt-guide = guide
    .description = Which guide to ask (all of them, if you leave this out)
opt-topic = topic
    .description = Which guide
opt-section = section
    .description = Where to start reading
opt-private = private
    .description = Show the answer only to you
choice-practice = practice
choice-exam = exam

# Solo rounds
round-title = { $title } · question { $number } of { $total }
round-score = { $points } of { $possible } points
round-time-hint = Take about { $seconds } s.
round-multiple = Choose every right answer, then close the menu to send.
round-choose-one = Choose one answer.
round-truefalse = True or false?
round-short = Press the button and type your answer.
round-order = Press the button and put them in order.
round-match = Press the button and match them.
round-fallback = This text is not there in your language yet; shown in { $language }.
round-resumed = You were here before: going on from question { $number }.
round-offer = You have an unfinished round of **{ $title }**: question { $number } of { $total }, { $points } points so far.
button-resume = Go on
button-afresh = Start afresh
button-next = Next question
button-finish = See the result
button-why = Why?
button-end = End round
button-type = Type your answer
button-order = Put in order
button-match = Match
button-again = Play again
button-review = Look at question { $number }
button-read = Read: { $heading }
choose-placeholder = Choose your answers
choose-one-placeholder = Choose your answer
answer-true = True
answer-false = False
modal-answer = Your answer
modal-place = Place { $number }
modal-gap = Gap { $number }
verdict-right = Right
verdict-partly = Partly right
verdict-wrong = Not right
verdict-ungraded = Noted
judged-title = { $verdict } · question { $number } of { $total }
judged-yours = Your answer
judged-right = Right answer
judged-why = Explanation
judged-section = In the guide
result-title = { $title } · result
result-score = **{ $points } of { $possible } points** ({ $share } %)
result-tally = { $right } right, { $partly } partly right, { $wrong } not right
result-time = Time: { $time }
result-reread = Read again
result-perfect = Nothing to reread: every answer was right.
result-nothing = No question was answered.
result-questions = Your answers
duration = { $minutes } min { $seconds } s

# Answers
ask-thinking = Looking in the guide …
ask-quote = From the guide
ask-quote-language = From the guide, in { $language }
ask-reason-no_model = No language model is running, so here is what the guide says.
ask-reason-unverified = The model's wording could not be confirmed by the guide, so here is the guide itself.
ask-reason-engine_failed = The language model did not answer in time, so here is what the guide says.
ask-reason-language = The language model does not write this language well enough, so here is the guide itself.
ask-refusal-not_covered = The guide does not cover this.
ask-refusal-off_topic = This is not something that the guides here are about.
ask-refusal-locked = That question is still open, so its answer stays hidden for now.
ask-nearest = Nearest in the guide: { $sections }
ask-sources = Sources
ask-streaming = still writing …
ask-footer = { $engine } · { $seconds } s
button-helpful = Helpful
button-not-helpful = Not helpful
button-quote = Show quote
ask-noted = Thank you, noted.

# Guides
guide-page = { $title } · { $number } of { $total }
guide-reading = { $minutes } min read
guide-faq = Frequently asked
guide-next = Next guide: { $title }
guide-related = Related
guide-quiz = Quiz: { $title }
guide-contents = Contents
guide-glossary = Terms
guide-sources = Sources
guide-reviewed = Reviewed { $date }
guide-level = Level: { $level }
guide-jump = Go to a section
button-previous = Back
button-forward = Next

# Help
help-title = Studyhall
help-text =
    **/quiz play** – play a quiz at your own pace. Every answer is explained, and **Why?** asks the guide.
    **/ask** – ask anything; the answer quotes and cites the guide, or says that the guide does not cover it.
    **/guide** – read a guide, section by section.
help-engine = Answers right now: { $engine }
engine-quoting = quoting the guide (no language model)
engine-model = { $model }

# What went wrong, for people
error-stale = This button belongs to a question that has been answered. Use the newest message of your round.
error-foreign = This round belongs to somebody else. Start your own with /quiz play.
error-gone = This is no longer there. Start again with /quiz play.
error-bad = That cannot be an answer to this question: { $problem }. Please try again.
error-order-twice = Each item needs its own place. Press the button and try again; nothing was counted.
error-throttled = Your last question is still being answered. Ask again in a moment.
error-no-quiz = There is no quiz called “{ $name }”. Choose one from the list that appears while you type.
error-no-guide = There is no guide called “{ $name }”. Choose one from the list that appears while you type.
error-store = Your answer could not be saved, so nothing was counted. Please press again in a moment. (Reference { $reference })
error-unknown = Something went wrong here. Nothing you did is lost. Please try again; if it repeats, tell your instructor: { $reference }
error-old-button = This button is from an older message and does nothing any more. Start with /quiz play, /ask or /guide.

language-en = English
language-ko = Korean
language-el = Greek
language-ru = Russian
language-zh = Chinese
level-beginner = beginner
level-intermediate = intermediate
level-advanced = advanced
