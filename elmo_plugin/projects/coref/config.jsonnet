// A coreference model with ELMo at its input, and with word vectors. A small network, for one CPU core; without
// options, `coref` has the sizes of Peters et al. (2018): see lib/coref.libsonnet.
local coref = import 'lib/coref.libsonnet';
local elmo = import 'lib/elmo.libsonnet';
local words = import 'lib/words.libsonnet';

coref(
  data='data',
  words=words.bundled(),
  hidden=100,
  max_span_width=8,
  spans_per_word=0.3,
  max_antecedents=50,
  feedforward=64,
  max_training_sentences=20,
  epochs=30,
  patience=15,
) + elmo.at(['input'], bilm='base', dropout=0.5, cache={ type: 'memory' })
