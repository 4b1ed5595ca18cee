"""The commands: some run as `elmo NAME` and as `allennlp elmo-NAME`, the others need AllenNLP."""
