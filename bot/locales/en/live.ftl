# Texts of Studyhall, English: live rounds. Names of commands and options at most 32 characters, lower case;
# descriptions at most 100. Button labels should stay under 30.

cmd-live = live
    .description = Rounds for everybody in a channel, led by an instructor
cmd-live-start = start
    .description = Open a live round in this channel (instructors)
cmd-live-console = console
    .description = Your private controls for the round in this channel (instructors)
cmd-live-repair = repair
    .description = Correct a key, accept another answer or void a question; everything is counted again
cmd-live-results = results
    .description = Results of a round as a table and as files (instructors)
cmd-live-time = time
    .description = Give a person more time, privately (instructors)
opt-live-seconds = seconds
    .description = Seconds per question; 0: until you close it; left out: reading time and 20 s
opt-live-scoring = scoring
    .description = How points are given
opt-live-teams = teams
    .description = How many teams; a team has the mean of its members
opt-live-anonymous = anonymous
    .description = The board shows places and points without names
opt-live-place = place
    .description = Where the round is held
opt-live-late = late_join
    .description = People may come in while it runs (yes, if you leave this out)
opt-live-locked = locked
    .description = The first answer stands (no, if you leave this out)
opt-live-way = way
    .description = How questions are asked
opt-live-pace = pace
    .description = Who moves on to the next question
opt-live-streaks = streaks
    .description = Extra points for right answers in a row
opt-live-round = round
    .description = Which round (the newest one here, if you leave this out)
opt-live-number = question
    .description = Number of the question, from 1
opt-live-fix = fix
    .description = What to do
opt-live-answer = answer
    .description = The option or the text that is right
opt-live-person = person
    .description = Who gets the time
opt-live-factor = time
    .description = How much
choice-live-accuracy = accuracy only
choice-live-gentle = gentle: 600 for right, up to 400 for quick
choice-live-classic = classic: the quicker, the more
choice-live-here = this channel
choice-live-thread = a thread of its own
choice-live-together = everybody sees the same
choice-live-peer = peer instruction: vote, discuss, vote again
choice-live-own = own option order for each person
choice-live-instructor = the instructor
choice-live-automatic = the clock
choice-live-key = this is the key
choice-live-accept = accept this answer too
choice-live-void = void the question
choice-live-restore = let it count again
choice-live-time-normal = as everybody
choice-live-time-quarter = a quarter more
choice-live-time-half = half as much again
choice-live-time-double = twice as much
choice-live-time-unlimited = no limit

# The lobby
live-lobby-title = { $title } · live round
live-lobby-text =
    { $questions ->
        [one] 1 question.
       *[other] { $questions } questions.
    } Press **Join** to take a seat; the instructor starts the round.
live-lobby-here = { $people ->
    [one] 1 person is here
   *[other] { $people } people are here
}
live-lobby-running = The round is running.
live-lobby-over = The round has ended.
live-lobby-rules = { $scoring } · { $answers }
live-rule-accuracy = right answers count, speed does not
live-rule-gentle = 600 points for a right answer, up to 400 more for a quick one
live-rule-classic = up to 1,000 points, fewer with time
live-rule-change = answers may be changed until the close
live-rule-locked = the first answer stands
live-rule-peer = two votes with a discussion between them
live-rule-own = everybody gets the options in an order of their own
live-rule-anonymous = the board shows no names
live-team = Team { $number }
live-join = Join
live-joined = You are in, number { $number }. The first question appears in <#{ $channel }>.
live-joined-team = You are in, on team { $team }.
live-joined-already = You are in already.
live-not-in = This round started without you and lets nobody in any more.

# A question
live-question-title = { $title } · question { $number } of { $total }
live-second-title = { $title } · question { $number } of { $total } · second vote
live-closes = ⏳ Answers close { $when }
live-no-limit = Open until the instructor closes it
live-paused = ⏸ Paused, { $seconds } s left
live-paused-open = ⏸ Paused
live-outage = The bot was away for { $seconds } s. That time has been given back.
live-closed = ⌛ Time is up. Answers are being counted …
live-discuss = 💬 Talk it over with your neighbours. Then there is a second vote, and that one counts.
live-discuss-until = 💬 Talk it over with your neighbours. The second vote, the one that counts, comes { $when }
live-discuss-thread = Discussion: question { $number }
live-skipped = ⏭ This question was dropped. It counts for nobody.
live-dropped-end = The round ended before this question was closed. It counts for nobody.
live-footer = { $answered } answered · { $people } here
live-own-order = Press **Answer**: the options are in an order of your own.
live-button-answer = Answer
live-button-mine = My answer
live-button-lost = I'm lost
live-button-why = Why?
live-button-place = My place
live-button-results = My results
live-lost-noted = Noted. The instructor sees how many are lost, not who.
live-sheet-none = You have not answered yet.
live-sheet-mine = Your answer: **{ $answer }**
live-sheet-over = The time for this question is up.
live-sheet-until = Your own time runs until { $when }
live-sheet-unlimited = You have no time limit.

# Receipts, seen by one person
live-receipt-recorded = ✔ Recorded: **{ $answer }**. You may change it until the close.
live-receipt-recorded-locked = ✔ Recorded: **{ $answer }**. It stands.
live-receipt-changed = ✔ Changed to **{ $answer }**.
live-receipt-same = ✔ Your answer is **{ $answer }** already.
live-receipt-kept = Your first answer stands: **{ $answer }**.
live-receipt-overtaken = ✔ Your newer answer counts: **{ $answer }**.
live-refused-not_started = The round has not started yet.
live-refused-late = Too late: this question closed before you pressed. Nothing was recorded.
live-refused-paused = The round is paused. Please press again when it goes on.
live-refused-earlier_question = This button belongs to an earlier question. Please use the newest message.
live-refused-revealed = The answer has been shown already. Nothing was recorded.
live-refused-over = This round has ended.
live-refused-not_in = This round started without you and lets nobody in any more.

# The reveal
live-reveal-title = Answer · question { $number } of { $total }
live-reveal-key = Right answer
live-reveal-why = Why
live-reveal-others = Why not the others
live-reveal-voided = 🔧 This question was voided: it counts for nobody.
live-reveal-share = { $right } of { $answered } had it right
live-reveal-nobody = Nobody answered.
live-reveal-shift = First vote { $before } of { $answered_before } right, second vote { $right } of { $answered }
live-chart-intro = Answers of { $answered } people
live-chart-right = right answer
live-repaired = 🔧 Repaired
live-repaired-key = The key is now { $answer }
live-repaired-accept = { $answer } is accepted too
live-repaired-void = The question counts for nobody
live-repaired-restore = The question counts again
live-repaired-moved = { $people ->
    [0] Nobody's points changed
    [one] The points of 1 person changed
   *[other] The points of { $people } people changed
}
live-repaired-note = 🔧 Question { $number } was repaired: { $what }. { $moved }; all scores and places are counted again.
live-board = Board
live-board-teams = Teams
live-board-empty = Nobody has points yet.
live-board-line = { $place } **{ $name }** · { $points }
live-board-more = { $people ->
    [one] and 1 more; **My place** shows yours
   *[other] and { $people } more; **My place** shows yours
}
live-podium-title = 🏁 { $title } · the end
live-podium-text = People: { $people } · questions: { $questions } · points possible: { $possible }
live-podium-nobody = Nobody took part.
live-place = You are in place **{ $place }** of { $people } with **{ $points }** of { $possible } points.
live-place-none = Nothing of yours counts yet.
live-place-team = Team { $team }: place { $place } with { $points } on average.
live-mine-title = Your results · { $title }
live-mine-line = { $mark } { $number }. { $stem } · { $points }
live-mine-none = no answer
live-mine-dm = Send me this
live-mine-sent = Sent. Look at your direct messages.
live-mine-refused = Discord does not let me write to you. Allow direct messages from this server and press again.
live-mine-keep = Keep what I missed
live-mine-kept = Kept: what you missed here, and in later live rounds, is there for your review. Press again to take that back.
live-mine-dropped = What you missed in live rounds is no longer kept.

# The console, seen by an instructor
live-console-title = Console · { $title }
live-console-private = Only you see this.
live-console-lobby = Lobby. { $people } here.
live-console-asking = Question { $number } of { $total }: open
live-console-closed = Question { $number } of { $total }: closed, the key is not shown yet
live-console-discussing = Question { $number } of { $total }: discussion before the second vote
live-console-revealed = Question { $number } of { $total }: answer shown
live-console-ended = The round has ended. `/live results` has the tables and files.
live-console-answered = { $answered } of { $people } answered
live-console-lost = { $people } lost
live-console-waiting = { $people } with more time have not answered yet, until { $when }
live-console-waiting-open = { $people } without a time limit have not answered yet
live-console-split = Answers so far
live-console-stale = The round had moved on already; this is where it stands.
live-console-none = No round is running in this channel. Open one with /live start.
live-console-old = This console is getting old and no longer updates by itself. Press any button, or open a new one with /live console.
live-do-start = Start
live-do-close = Close now
live-do-reveal = Show the answer
live-do-discuss = Discuss
live-do-vote = Second vote
live-do-next = Next question
live-do-podium = End: show the podium
live-do-pause = Pause
live-do-resume = Go on
live-do-extend = +15 s
live-do-skip = Drop question
live-do-board = Board again
live-do-show = Show board
live-do-hide = Hide board
live-do-end = End round
live-do-refresh = Refresh

# Commands
live-opened = The round is open in <#{ $channel }>. These are your private controls.
live-error-running = A round is running in this channel. End it first, or hold this one in a thread (place: a thread of its own).
live-error-place = Live rounds need a text channel of a server.
live-error-thread = I may not open a thread here. Give me the right to create public threads, or choose this channel.
live-error-send = I may not write in this channel. Give me the rights to view it, send messages, embed links and attach files.
live-error-role = Only instructors may do this: the role “{ $role }”, or everybody who may manage the server.
live-error-role-unset = Only instructors may do this: everybody who may manage the server.
live-error-unasked = That question has not been asked in this round.
live-repair-done = Question { $number }: { $what }. { $moved }
live-repair-line = { $name }: { $before } → { $after } points, place { $place_before } → { $place_after }
live-time-done = { $name } now has this time in live rounds: { $time }. Nobody else sees it.
live-results-title = Results · { $title }
live-results-text = People: { $people } · questions that count: { $questions } · mean { $mean } of { $possible } points. The files have everything.
live-results-question = { $number }. { $stem }
live-results-figures = { $right } of { $answered } right · difficulty { $difficulty } · discrimination { $discrimination }
live-results-suspected = ⚠ suspected wrong key: the strong chose “{ $option }”
live-results-dead = never convincing: { $options }
live-results-lost = { $people } lost
live-results-none = No live round has been held here yet.
