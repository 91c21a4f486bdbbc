# Texts of Studyhall: learning alone, asking, reading.
