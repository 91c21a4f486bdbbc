# Texts of /privacy.

cmd-privacy = privacy
    .description = What this bot keeps of you, and how to remove it
privacy-title = Your data
privacy-text = Kept: your solo rounds with your answers, the language you chose, and of each question you ask only what became of it (answered, quoted, refused) and whether it helped. The text of a question is not kept. Nothing is sent to another company.
privacy-keeps = You agreed that the text of questions which no guide answers is kept, without your name, for the authors of the guides.
privacy-keeps-not = The text of your questions is never kept. If you agree, questions that no guide answers are kept without your name, so that authors can fill the gap.
privacy-forgotten = Removed: your solo rounds, answers and choices. Results of live rounds belong to your class and stay.
button-keep = Keep such questions
button-keep-not = Keep no questions
button-forget = Remove my data
button-forget-sure = Really remove everything of mine
