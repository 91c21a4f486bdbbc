"""`python -m bot` is `studyhall`."""

from bot.cli import main

if __name__ == "__main__":
    main()
