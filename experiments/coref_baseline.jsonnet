// The coreference model of coref_elmo.jsonnet without ELMo, for comparison.
//
// Paper:     67.2 average F1 on the CoNLL-2012 test set, with an LSTM of 200 cells a direction and pretrained word
//            vectors.
// Here:      an LSTM of 100 cells, layers of 64, spans of at most 8 words, three for ten words, 50 antecedents, and
//            20 sentences of a document at a time, so that it trains in minutes; no early stopping, because the first
//            ten epochs of 20 documents find no links; the word vectors of this package, 40,000 x 100;
//            genres as OntoGUM names them; the small data set of this repository.
// Expected:  docs/results/small.json, three seeds; docs/results.md has larger data.
// Hardware:  one CPU core, three minutes of processor time.
local coref = import '../elmo_plugin/jsonnet/coref.libsonnet';
local words = import '../elmo_plugin/jsonnet/words.libsonnet';

coref(
  data='experiments/data/coref',
  genre_pattern='gum/([^_]+)',
  words=words.bundled(),
  hidden=100,
  max_span_width=8,
  spans_per_word=0.3,
  max_antecedents=50,
  feedforward=64,
  max_training_sentences=20,
  epochs=30,
  patience=null,
)
