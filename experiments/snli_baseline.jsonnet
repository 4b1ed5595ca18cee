// The inference model of snli_elmo.jsonnet without ELMo, for comparison.
//
// Paper:     the same network, with LSTMs of 300 cells and GloVe vectors, scores 88.0 % on the SNLI test set.
// Here:      the word vectors of this package, 40,000 x 100; layers of 100, a rate of 0.001 and less dropout,
//            so that it takes minutes; the small data set of this repository.
// Expected:  docs/results/small.json, three seeds; docs/results.md has larger data.
// Hardware:  one CPU core, two and a half minutes of processor time.
local snli = import '../elmo_plugin/jsonnet/snli.libsonnet';
local words = import '../elmo_plugin/jsonnet/words.libsonnet';

snli(
  data='experiments/data/snli',
  words=words.bundled(),
  hidden=100,
  dropout=0.2,
  learning_rate=0.001,
  epochs=30,
  patience=10,
  rate_patience=3,
)
