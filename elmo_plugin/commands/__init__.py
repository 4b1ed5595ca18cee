"""The `allennlp elmo-...` subcommands."""
