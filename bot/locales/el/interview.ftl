# Texts of Studyhall, Greek: the interview bank. Keys and variables are those of en/interview.ftl.
# The reader is addressed in the polite plural; commands, which the reader gives, stand in the short singular.

cmd-interview = συνέντευξη
    .description = Ανοιχτές ερωτήσεις συνέντευξης, με συμπληρωματικές, υπόδειγμα απάντησης και αυτοέλεγχο
opt-interview-part = μέρος
    .description = Ποιο μέρος της συλλογής (αν μείνει κενό, όλα)

interview-title = { $title } · ερώτηση { $number } από { $total }
interview-probe = Συμπληρωματική ερώτηση { $number } από { $total }
interview-footer = Δυσκολία { $stars } · μέγιστο: { $points } πόντοι
interview-yours = Η απάντησή σας
interview-length = Από { $least } ως { $most } χαρακτήρες. Τη βλέπετε μόνο εσείς και δεν φυλάσσεται πουθενά.
interview-check = Αυτοέλεγχος: { $points } από { $possible } πόντους
interview-check-note = Σημειώστε όσα έχει η απάντησή σας. Κανείς δεν βαθμολογεί και τίποτα δεν φυλάσσεται.
interview-tick = Σημειώστε όσα έχει η απάντησή σας
interview-points = { $points ->
    [one] { $points } πόντος
   *[other] { $points } πόντοι
}
interview-reference = Υπόδειγμα απάντησης
interview-rubric = **Τι μετράει** · { $points } πόντοι συνολικά
interview-page = Σελίδα { $number } από { $total }
interview-no-reference = Δεν υπάρχει ακόμη υπόδειγμα απάντησης για αυτή την ερώτηση.
interview-none = Δεν υπάρχουν ακόμη ερωτήσεις συνέντευξης εδώ.
button-interview-write = Γράψτε την απάντησή σας
button-interview-again = Γράψτε την ξανά
button-interview-probe = Συμπληρωματική ερώτηση
button-interview-reference = Δείτε το υπόδειγμα
help-interview = **/συνέντευξη** – ανοιχτές ερωτήσεις: γράψτε μια απάντηση, δεχτείτε συμπληρωματικές και συγκρίνετε με το υπόδειγμα.
