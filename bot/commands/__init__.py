"""Slash commands, one module per subject; each has `register(client)`."""
