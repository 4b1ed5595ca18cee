"""The commands `elmo NAME` and `allennlp elmo-NAME`, one file each."""
