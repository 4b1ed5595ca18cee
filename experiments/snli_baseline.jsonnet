// The inference model of snli_elmo.jsonnet without ELMo, for comparison.
//
// Paper:     the same network, with LSTMs of 300 cells and GloVe vectors, scores 88.0 % on the SNLI test set.
// Here:      no pretrained word vectors, so that there is nothing to download; layers of 100 and fewer, larger
//            steps with less dropout, so that it takes minutes; the small data set of this repository, or any
//            other by `-o '{"train_data_path": "...", "validation_data_path": "..."}'`.
// Expected:  docs/results/snli.json: 16,533 pairs of SNLI, three seeds.
// Hardware:  one CPU core, about two minutes.
local snli = import '../training_config/lib/snli.libsonnet';

snli(
  data='experiments/data/snli',
  hidden=100,
  dropout=0.2,
  learning_rate=0.001,
  epochs=30,
  patience=10,
  rate_patience=3,
)
