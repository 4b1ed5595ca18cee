// The question answering model of squad_elmo.jsonnet without ELMo, for comparison.
//
// Paper:     81.1 F1 on SQuAD's test set, with GRUs of 90 cells a direction and pretrained word vectors.
// Here:      GRUs of 40 cells, characters of 16 dimensions with 32 filters, Adam, and no paragraph of more than 400
//            words, so that it trains in minutes; the word vectors of this package, 40,000 x 100; the small data set
//            of this repository.
// Expected:  docs/results/small.json, three seeds; docs/results.md has larger data.
// Hardware:  one CPU core, one and a half minutes of processor time.
local squad = import '../elmo_plugin/jsonnet/squad.libsonnet';
local words = import '../elmo_plugin/jsonnet/words.libsonnet';

squad(
  data='experiments/data/squad',
  max_paragraph_words=400,
  words=words.bundled(),
  characters={ dim: 16, num_filters: 32, widths: [5] },
  hidden=40,
  moving_average=0.99,
  optimizer={ optimizer: { type: 'adam', lr: 0.002 }, grad_norm: 5.0 },
  batch_size=32,
  epochs=12,
  patience=5,
)
