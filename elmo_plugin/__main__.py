"""`python -m elmo_plugin` does what the command `elmo` does."""

from elmo_plugin.commands.main import main

if __name__ == "__main__":
    main()
