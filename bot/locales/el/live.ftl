# Texts of Studyhall, Greek: live rounds. Keys and variables are those of en/live.ftl.
# Discord writes { $when } as «σε 10 δευτερόλεπτα», so a verb may stand directly before it.

cmd-live = ζωντανά
    .description = Γύροι για όλους σε ένα κανάλι, με εκπαιδευτή που τους οδηγεί
cmd-live-start = έναρξη
    .description = Ανοίγει έναν ζωντανό γύρο σε αυτό το κανάλι (για εκπαιδευτές)
cmd-live-console = κονσόλα
    .description = Τα ιδιωτικά σας χειριστήρια για τον γύρο σε αυτό το κανάλι (για εκπαιδευτές)
cmd-live-repair = διόρθωση
    .description = Αλλάζει τη σωστή απάντηση, δέχεται κι άλλη ή ακυρώνει ερώτηση· όλα μετρούν ξανά
cmd-live-results = αποτελέσματα
    .description = Τα αποτελέσματα ενός γύρου σε πίνακα και σε αρχεία (για εκπαιδευτές)
cmd-live-time = χρόνος
    .description = Δίνει σε ένα άτομο περισσότερο χρόνο, χωρίς να φαίνεται (για εκπαιδευτές)
opt-live-seconds = δευτερόλεπτα
    .description = Ανά ερώτηση· 0: ώσπου να την κλείσετε· κενό: χρόνος ανάγνωσης και 20 δευτ.
opt-live-scoring = βαθμολόγηση
    .description = Πώς δίνονται οι πόντοι
opt-live-teams = ομάδες
    .description = Πόσες ομάδες· η ομάδα παίρνει τον μέσο όρο των μελών της
opt-live-anonymous = ανώνυμα
    .description = Η κατάταξη δείχνει θέσεις και πόντους χωρίς ονόματα
opt-live-place = χώρος
    .description = Πού γίνεται ο γύρος
opt-live-late = αργοπορημένοι
    .description = Μπορεί να μπει κανείς και όσο διαρκεί ο γύρος (αν μείνει κενό, ναι)
opt-live-locked = κλείδωμα
    .description = Ισχύει η πρώτη απάντηση (αν μείνει κενό, όχι)
opt-live-way = τρόπος
    .description = Πώς γίνονται οι ερωτήσεις
opt-live-pace = ρυθμός
    .description = Ποιος προχωρά στην επόμενη ερώτηση
opt-live-streaks = σερί
    .description = Επιπλέον πόντοι για συνεχόμενες σωστές απαντήσεις
opt-live-round = γύρος
    .description = Ποιος γύρος (αν μείνει κενό, ο πιο πρόσφατος εδώ)
opt-live-number = αριθμός
    .description = Ο αριθμός της ερώτησης, από το 1
opt-live-fix = ενέργεια
    .description = Τι να γίνει
opt-live-answer = απάντηση
    .description = Η επιλογή ή το κείμενο που είναι σωστό
opt-live-person = άτομο
    .description = Ποιος παίρνει τον χρόνο
opt-live-factor = χρόνος
    .description = Πόσος
choice-live-accuracy = μόνο η ορθότητα
choice-live-gentle = ήπια: 600 για τη σωστή, έως 400 για τη γρήγορη
choice-live-classic = κλασικά: όσο πιο γρήγορα, τόσο περισσότερα
choice-live-here = αυτό το κανάλι
choice-live-thread = ξεχωριστό νήμα
choice-live-together = όλοι βλέπουν το ίδιο
choice-live-peer = διδασκαλία μεταξύ ομοτίμων: ψήφος, συζήτηση, ξανά ψήφος
choice-live-own = δική του σειρά επιλογών για τον καθένα
choice-live-instructor = ο εκπαιδευτής
choice-live-automatic = το ρολόι
choice-live-key = αυτή είναι η σωστή απάντηση
choice-live-accept = δεκτή και αυτή η απάντηση
choice-live-void = ακύρωση της ερώτησης
choice-live-restore = να μετρά ξανά
choice-live-time-normal = όσος για όλους
choice-live-time-quarter = κατά ένα τέταρτο περισσότερος
choice-live-time-half = κατά το μισό περισσότερος
choice-live-time-double = διπλάσιος
choice-live-time-unlimited = χωρίς όριο

# The lobby
live-lobby-title = { $title } · ζωντανός γύρος
live-lobby-text = Ερωτήσεις: { $questions }. Πατήστε **Συμμετοχή** για να πάρετε θέση· τον γύρο τον ξεκινά ο εκπαιδευτής.
live-lobby-here = { $people ->
    [one] 1 άτομο είναι εδώ
   *[other] { $people } άτομα είναι εδώ
}
live-lobby-running = Ο γύρος είναι σε εξέλιξη.
live-lobby-over = Ο γύρος τελείωσε.
live-lobby-rules = { $scoring } · { $answers }
live-rule-accuracy = μετρούν οι σωστές απαντήσεις, όχι η ταχύτητα
live-rule-gentle = 600 πόντοι για σωστή απάντηση, έως 400 ακόμη αν είναι γρήγορη
live-rule-classic = έως 1000 πόντοι, λιγότεροι όσο περνά ο χρόνος
live-rule-change = οι απαντήσεις αλλάζουν ως το κλείσιμο
live-rule-locked = ισχύει η πρώτη απάντηση
live-rule-peer = δύο ψηφοφορίες με μια συζήτηση ανάμεσα
live-rule-own = ο καθένας έχει τις επιλογές με δική του σειρά
live-rule-anonymous = η κατάταξη δεν δείχνει ονόματα
live-team = Ομάδα { $number }
live-join = Συμμετοχή
live-joined = Μπήκατε, με αριθμό { $number }. Η πρώτη ερώτηση θα εμφανιστεί στο <#{ $channel }>.
live-joined-team = Μπήκατε. Η ομάδα σας: { $team }.
live-joined-already = Έχετε μπει ήδη.
live-not-in = Αυτός ο γύρος ξεκίνησε χωρίς εσάς και δεν δέχεται πια κανέναν.

# A question
live-question-title = { $title } · ερώτηση { $number } από { $total }
live-second-title = { $title } · ερώτηση { $number } από { $total } · δεύτερη ψηφοφορία
live-closes = ⏳ Οι απαντήσεις κλείνουν { $when }
live-no-limit = Ανοιχτή ώσπου να την κλείσει ο εκπαιδευτής
live-paused = ⏸ Σε παύση, απομένουν { $seconds } δευτ.
live-paused-open = ⏸ Σε παύση
live-outage = Το bot έλειψε για { $seconds } δευτ. Ο χρόνος αυτός δόθηκε πίσω.
live-closed = ⌛ Τέλος χρόνου. Οι απαντήσεις μετριούνται…
live-discuss = 💬 Συζητήστε το με τους διπλανούς σας. Έπειτα γίνεται δεύτερη ψηφοφορία, και μετρά εκείνη.
live-discuss-until = 💬 Συζητήστε το με τους διπλανούς σας. Η δεύτερη ψηφοφορία, αυτή που μετρά, αρχίζει { $when }
live-discuss-thread = Συζήτηση: ερώτηση { $number }
live-skipped = ⏭ Αυτή η ερώτηση αφαιρέθηκε. Δεν μετρά για κανέναν.
live-dropped-end = Ο γύρος τελείωσε προτού κλείσει αυτή η ερώτηση. Δεν μετρά για κανέναν.
live-footer = Απάντησαν: { $answered } · εδώ: { $people }
live-own-order = Πατήστε **Απάντηση**: οι επιλογές έχουν δική σας σειρά.
live-button-answer = Απάντηση
live-button-mine = Η απάντησή μου
live-button-lost = Χάθηκα
live-button-why = Γιατί;
live-button-place = Η θέση μου
live-button-results = Τα αποτελέσματά μου
live-lost-noted = Σημειώθηκε. Ο εκπαιδευτής βλέπει πόσοι χάθηκαν, όχι ποιοι.
live-sheet-none = Δεν έχετε απαντήσει ακόμη.
live-sheet-mine = Η απάντησή σας: **{ $answer }**
live-sheet-over = Ο χρόνος γι’ αυτή την ερώτηση τελείωσε.
live-sheet-until = Ο δικός σας χρόνος λήγει { $when }
live-sheet-unlimited = Δεν έχετε όριο χρόνου.

# Receipts, seen by one person
live-receipt-recorded = ✔ Καταγράφηκε: **{ $answer }**. Μπορείτε να την αλλάξετε ως το κλείσιμο.
live-receipt-recorded-locked = ✔ Καταγράφηκε: **{ $answer }**. Δεν αλλάζει πια.
live-receipt-changed = ✔ Η απάντησή σας άλλαξε σε **{ $answer }**.
live-receipt-same = ✔ Η απάντησή σας είναι ήδη **{ $answer }**.
live-receipt-kept = Ισχύει η πρώτη σας απάντηση: **{ $answer }**.
live-receipt-overtaken = ✔ Μετρά η νεότερη απάντησή σας: **{ $answer }**.
live-refused-not_started = Ο γύρος δεν έχει αρχίσει ακόμη.
live-refused-late = Πολύ αργά: η ερώτηση έκλεισε πριν πατήσετε. Δεν καταγράφηκε τίποτα.
live-refused-paused = Ο γύρος είναι σε παύση. Πατήστε ξανά όταν συνεχιστεί.
live-refused-earlier_question = Αυτό το κουμπί ανήκει σε προηγούμενη ερώτηση. Χρησιμοποιήστε το πιο πρόσφατο μήνυμα.
live-refused-revealed = Η απάντηση έχει ήδη αποκαλυφθεί. Δεν καταγράφηκε τίποτα.
live-refused-over = Αυτός ο γύρος τελείωσε.
live-refused-not_in = Αυτός ο γύρος ξεκίνησε χωρίς εσάς και δεν δέχεται πια κανέναν.

# The reveal
live-reveal-title = Απάντηση · ερώτηση { $number } από { $total }
live-reveal-key = Σωστή απάντηση
live-reveal-why = Γιατί
live-reveal-others = Γιατί όχι οι άλλες
live-reveal-voided = 🔧 Αυτή η ερώτηση ακυρώθηκε: δεν μετρά για κανέναν.
live-reveal-share = Απάντησαν σωστά: { $right } από { $answered }
live-reveal-nobody = Δεν απάντησε κανείς.
live-reveal-shift = Σωστές στην πρώτη ψηφοφορία: { $before } από { $answered_before }, στη δεύτερη: { $right } από { $answered }
live-chart-intro = Απάντησαν: { $answered }
live-chart-right = σωστή απάντηση
live-repaired = 🔧 Διορθώθηκε
live-repaired-key = Η σωστή απάντηση είναι τώρα { $answer }
live-repaired-accept = Δεκτή και η απάντηση { $answer }
live-repaired-void = Η ερώτηση δεν μετρά για κανέναν
live-repaired-restore = Η ερώτηση μετρά ξανά
live-repaired-moved = { $people ->
    [0] Δεν άλλαξαν οι πόντοι κανενός
    [one] Άλλαξαν οι πόντοι 1 ατόμου
   *[other] Άλλαξαν οι πόντοι { $people } ατόμων
}
live-repaired-note = 🔧 Η ερώτηση { $number } διορθώθηκε: { $what }. { $moved }· όλοι οι πόντοι και οι θέσεις υπολογίζονται ξανά.
live-board = Κατάταξη
live-board-teams = Ομάδες
live-board-empty = Κανείς δεν έχει πόντους ακόμη.
live-board-line = { $place } **{ $name }** · { $points }
live-board-more = { $people ->
    [one] και 1 ακόμη· πατήστε **Η θέση μου** για τη δική σας
   *[other] και { $people } ακόμη· πατήστε **Η θέση μου** για τη δική σας
}
live-podium-title = 🏁 { $title } · τέλος
live-podium-text = Άτομα: { $people }, ερωτήσεις: { $questions }, δυνατοί πόντοι: { $possible }.
live-podium-nobody = Δεν έλαβε μέρος κανείς.
live-place = Είστε στη θέση **{ $place }** από { $people }, με **{ $points }** από { $possible } πόντους.
live-place-none = Δεν μετρά ακόμη τίποτα δικό σας.
live-place-team = Ομάδα { $team }: θέση { $place }, μέσος όρος πόντων { $points }.
live-mine-title = Τα αποτελέσματά σας · { $title }
live-mine-line = { $mark } { $number }. { $stem } · { $points }
live-mine-none = χωρίς απάντηση
live-mine-dm = Στείλε μού τα
live-mine-sent = Στάλθηκαν. Δείτε τα άμεσα μηνύματά σας.
live-mine-refused = Το Discord δεν με αφήνει να σας γράψω. Επιτρέψτε άμεσα μηνύματα από αυτόν τον διακομιστή και πατήστε ξανά.
live-mine-keep = Κράτα όσα δεν πέτυχα
live-mine-kept = Κρατήθηκαν: όσα δεν πετύχατε εδώ, και όσα σας ξεφύγουν σε επόμενους ζωντανούς γύρους, σας περιμένουν για επανάληψη. Πατήστε ξανά για να το αναιρέσετε.
live-mine-dropped = Όσα δεν πετυχαίνετε σε ζωντανούς γύρους δεν κρατιούνται πια.

# The console, seen by an instructor
live-console-title = Κονσόλα · { $title }
live-console-private = Το βλέπετε μόνο εσείς.
live-console-lobby = Αναμονή. Εδώ: { $people }.
live-console-asking = Ερώτηση { $number } από { $total }: ανοιχτή
live-console-closed = Ερώτηση { $number } από { $total }: κλειστή, η σωστή απάντηση δεν φαίνεται ακόμη
live-console-discussing = Ερώτηση { $number } από { $total }: συζήτηση πριν από τη δεύτερη ψηφοφορία
live-console-revealed = Ερώτηση { $number } από { $total }: η απάντηση φαίνεται
live-console-ended = Ο γύρος τελείωσε. Οι πίνακες και τα αρχεία βρίσκονται στο `/ζωντανά αποτελέσματα`.
live-console-answered = Απάντησαν { $answered } από { $people }
live-console-lost = Χάθηκαν: { $people }
live-console-waiting = Με περισσότερο χρόνο, χωρίς απάντηση ακόμη: { $people }· ο χρόνος λήγει { $when }
live-console-waiting-open = Χωρίς όριο χρόνου, χωρίς απάντηση ακόμη: { $people }
live-console-split = Απαντήσεις ως τώρα
live-console-stale = Ο γύρος είχε ήδη προχωρήσει· εδώ βρίσκεται τώρα.
live-console-none = Δεν υπάρχει γύρος σε εξέλιξη σε αυτό το κανάλι. Ανοίξτε έναν με /ζωντανά έναρξη.
live-console-old = Αυτή η κονσόλα πάλιωσε και δεν ενημερώνεται πια μόνη της. Πατήστε ένα κουμπί ή ανοίξτε νέα με /ζωντανά κονσόλα.
live-do-start = Έναρξη
live-do-close = Κλείσιμο τώρα
live-do-reveal = Δείξε την απάντηση
live-do-discuss = Συζήτηση
live-do-vote = Δεύτερη ψηφοφορία
live-do-next = Επόμενη ερώτηση
live-do-podium = Τέλος: δείξε το βάθρο
live-do-pause = Παύση
live-do-resume = Συνέχεια
live-do-extend = +15 δευτ.
live-do-skip = Αφαίρεση ερώτησης
live-do-board = Ξανά η κατάταξη
live-do-show = Δείξε την κατάταξη
live-do-hide = Κρύψε την κατάταξη
live-do-end = Τέλος γύρου
live-do-refresh = Ανανέωση

# Commands
live-opened = Ο γύρος άνοιξε στο <#{ $channel }>. Αυτά είναι τα ιδιωτικά σας χειριστήρια.
live-error-running = Σε αυτό το κανάλι είναι ήδη σε εξέλιξη ένας γύρος. Τελειώστε εκείνον πρώτα ή κάντε αυτόν εδώ σε νήμα (χώρος: ξεχωριστό νήμα).
live-error-place = Οι ζωντανοί γύροι χρειάζονται κανάλι κειμένου σε διακομιστή.
live-error-thread = Δεν μου επιτρέπεται να ανοίξω νήμα εδώ. Δώστε μου το δικαίωμα δημιουργίας δημόσιων νημάτων ή διαλέξτε αυτό το κανάλι.
live-error-send = Δεν μου επιτρέπεται να γράψω σε αυτό το κανάλι. Δώστε μου τα δικαιώματα προβολής του, αποστολής μηνυμάτων, ενσωμάτωσης συνδέσμων και επισύναψης αρχείων.
live-error-role = Αυτό το κάνουν μόνο εκπαιδευτές: όσοι έχουν τον ρόλο «{ $role }» ή μπορούν να διαχειρίζονται τον διακομιστή.
live-error-role-unset = Αυτό το κάνουν μόνο εκπαιδευτές: όσοι μπορούν να διαχειρίζονται τον διακομιστή.
live-error-unasked = Αυτή η ερώτηση δεν έχει τεθεί σε αυτόν τον γύρο.
live-repair-done = Ερώτηση { $number }: { $what }. { $moved }
live-repair-line = { $name }: { $before } → { $after } πόντοι, θέση { $place_before } → { $place_after }
live-time-done = { $name }: χρόνος στους ζωντανούς γύρους από εδώ και πέρα: { $time }. Δεν το βλέπει κανείς άλλος.
live-results-title = Αποτελέσματα · { $title }
live-results-text = Άτομα: { $people }, ερωτήσεις που μετρούν: { $questions }, μέσος όρος: { $mean } από { $possible } πόντους. Τα αρχεία τα έχουν όλα.
live-results-question = { $number }. { $stem }
live-results-figures = σωστές { $right } από { $answered } · δυσκολία { $difficulty } · διακριτική ικανότητα { $discrimination }
live-results-suspected = ⚠ ίσως η σωστή απάντηση έχει οριστεί λάθος: οι δυνατοί διάλεξαν «{ $option }»
live-results-dead = δεν έπεισαν σχεδόν κανέναν: { $options }
live-results-lost = χάθηκαν: { $people }
live-results-none = Δεν έχει γίνει ακόμη ζωντανός γύρος εδώ.
