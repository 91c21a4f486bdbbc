# Κείμενα του Studyhall, ελληνικά: τράπεζες ερωτήσεων, εισαγωγή και εξαγωγή. Οι αναφορές για αρχεία είναι στα αγγλικά σε
# κάθε γλώσσα, επειδή παραθέτουν κωδικούς και ονόματα μορφών.

cmd-content = περιεχόμενο
    .description = Τράπεζες ερωτήσεων αυτού του διακομιστή: εισαγωγή, εξαγωγή, εξηγήσεις (για διαχειριστές)
cmd-content-import = εισαγωγή
    .description = Διαβάστε μια τράπεζα ερωτήσεων και κρατήστε τη ως πρόχειρο αυτού του διακομιστή
cmd-content-export = εξαγωγή
    .description = Ένα κουίζ ως αρχείο άλλου προγράμματος, με όσα εκείνο δεν μπορεί να κρατήσει
cmd-content-list = λίστα
    .description = Τα πρόχειρα αυτού του διακομιστή
cmd-content-remove = αφαίρεση
    .description = Αφαιρέστε ένα πρόχειρο αυτού του διακομιστή
cmd-content-explain = εξηγήσεις
    .description = Προτάσεις εξηγήσεων από έναν οδηγό· για την καθεμία αποφασίζετε εσείς
opt-content-file = αρχείο
    .description = GIFT, Moodle XML, QTI, Kahoot, CSV, Anki, Markdown, Aiken και άλλα· έως 8 MB
opt-content-format = μορφή
    .description = Τι αρχείο είναι (αν λείπει, το δείχνει το περιεχόμενο)
opt-content-target = μορφή
    .description = Για ποιο πρόγραμμα
opt-content-language = γλώσσα
    .description = Ποια γλώσσα, για μορφές που χωρούν μόνο μία
opt-content-draft = κουίζ
    .description = Ποιο πρόχειρο
opt-content-guide = οδηγός
    .description = Ο οδηγός από τον οποίο προέρχονται οι εξηγήσεις

# Εισαγωγή
content-title = { $file } · { $format }
content-counts = Μπορούν να χρησιμοποιηθούν **{ $imported } από { $read } ερωτήσεις**.
content-problems = Έμειναν έξω: { $errors } · άλλαξαν ή θέλουν έλεγχο: { $warnings } · σημειώσεις: { $notes }
content-nothing = Τίποτα από αυτό το αρχείο δεν μπορεί να κρατηθεί. Η αναφορά λέει γιατί, γραμμή προς γραμμή.
content-missing = { $count ->
    [one] 1 ερώτηση δεν έχει ακόμη εξήγηση.
   *[other] { $count } ερωτήσεις δεν έχουν ακόμη εξήγηση.
}
content-unasked = { $count ->
    [one] 1 ερώτηση δεν τίθεται σε γύρους (είναι ανοιχτή ή δεν χωράει σε φόρμα).
   *[other] { $count } ερωτήσεις δεν τίθενται σε γύρους (είναι ανοιχτές ή δεν χωρούν σε φόρμα).
}
content-replaces = Το «{ $title }» υπάρχει ήδη στην έκδοση { $version }. Με το **Κράτηση ως πρόχειρο** αυτό γίνεται η επόμενη έκδοσή του.
content-line = γραμμή { $line }
content-whole = αρχείο
content-more = { $count ->
    [one] και 1 ακόμη
   *[other] και { $count } ακόμη
}
content-button-keep = Κράτηση ως πρόχειρο
content-button-apart = Κράτηση και των δύο
content-button-discard = Απόρριψη
content-kept = Κρατήθηκε: **{ $title }**, έκδοση { $version }, ερωτήσεις: { $questions }. Παίζεται με **/κουίζ παίξε**, μόνο σε αυτόν τον διακομιστή.
content-kept-missing = { $count ->
    [one] 1 ερώτηση δεν έχει ακόμη εξήγηση· το **/περιεχόμενο εξηγήσεις** προτείνει μία από έναν οδηγό.
   *[other] { $count } ερωτήσεις δεν έχουν ακόμη εξήγηση· το **/περιεχόμενο εξηγήσεις** τις προτείνει από έναν οδηγό.
}
content-button-try = Δοκιμή
content-discarded = Απορρίφθηκε. Δεν κρατήθηκε τίποτα.
content-draft-mark = πρόχειρο
content-unexplained = Δεν υπάρχει ακόμη εξήγηση.

# Λίστα, αφαίρεση
content-list-title = Πρόχειρα αυτού του διακομιστή
content-listed = **{ $title }** · έκδοση { $version } · ερωτήσεις: { $questions }, χωρίς εξήγηση: { $missing } · { $date }
content-none = Δεν υπάρχουν. Με το **/περιεχόμενο εισαγωγή** φέρνετε ένα.
content-removed = Το **{ $title }** βγήκε από τη λίστα. Όσοι γύροι τρέχουν συνεχίζονται· για 30 ημέρες μπορεί να επιστρέψει.
content-button-undo = Επαναφορά
content-restored = Το **{ $title }** επέστρεψε.

# Εξαγωγή
content-exported = Στο αρχείο βρίσκονται { $written } από { $questions } ερωτήσεις.
content-losses = Όσα δεν μπορεί να κρατήσει:

# Εξηγήσεις
content-proposal = Προτεινόμενη εξήγηση · { $title }
content-no-proposal = Δεν υπάρχει πρόταση.
content-left = Χωρίς εξήγηση: { $count } · { $engine } · Τίποτα δεν κρατιέται χωρίς το ναι σας.
content-writing = Γράφεται η επόμενη πρόταση…
content-explained = { $count ->
    [0] Όλες οι ερωτήσεις αυτού του προχείρου έχουν πλέον εξήγηση.
    [one] Αυτή ήταν η τελευταία. 1 ερώτηση δεν έχει ακόμη εξήγηση.
   *[other] Αυτή ήταν η τελευταία. { $count } ερωτήσεις δεν έχουν ακόμη εξήγηση.
}
content-button-use = Χρήση
content-button-change = Αλλαγή
content-button-skip = Παράλειψη
content-button-go-on = Συνέχεια

# Τι πήγε στραβά
content-forbidden = Αυτό το κάνουν μόνο όσοι διαχειρίζονται αυτόν τον διακομιστή, και μόνο μέσα σε αυτόν.
content-refused = Αυτό δεν μπορεί να χρησιμοποιηθεί. { $problem }
content-unreachable = Το Discord δεν παρέδωσε το αρχείο. Στείλτε το ξανά.
content-busy = Αυτή τη στιγμή υπάρχουν άλλα αρχεία ή ερωτήσεις σε επεξεργασία. Δοκιμάστε ξανά σε λίγο.
content-too-many = Ένας διακομιστής κρατά έως { $most } πρόχειρα. Αφαιρέστε πρώτα ένα με το **/περιεχόμενο αφαίρεση**.
content-gone = Αυτό δεν υπάρχει πια. Ξεκινήστε πάλι με το **/περιεχόμενο**.
