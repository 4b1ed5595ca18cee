// The semantic role labeller of srl_elmo.jsonnet without ELMo, for comparison.
//
// Paper:     81.4 F1 on the CoNLL-2012 test set, with 8 layers of 300 cells and pretrained word vectors.
// Here:      4 layers of 100 cells, and Adam, so that it trains in minutes; the word vectors of this package,
//            40,000 x 100; the small data set of this repository.
// Expected:  docs/results/small.json, three seeds; docs/results.md has larger data.
// Hardware:  one CPU core, two and a half minutes of processor time.
local srl = import '../elmo_plugin/jsonnet/srl.libsonnet';
local words = import '../elmo_plugin/jsonnet/words.libsonnet';

srl(
  data='experiments/data/srl',
  words=words.bundled(),
  num_layers=4,
  hidden=100,
  predicate_dim=50,
  optimizer={ optimizer: { type: 'adam', lr: 0.003 }, grad_norm: 5.0 },
  epochs=30,
  patience=5,
)
