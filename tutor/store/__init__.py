"""The only SQL of the project: `database` (one file, one thread, migrations), one module per subject, `index` (search)."""
