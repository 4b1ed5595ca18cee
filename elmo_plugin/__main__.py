"""`python -m elmo_plugin` is the command `elmo`."""

from elmo_plugin.commands.main import run_process

if __name__ == "__main__":
    run_process()
