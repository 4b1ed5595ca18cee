// A tagger of words with ELMo at its input, and with word vectors: biLSTM layers and a CRF. A small network, for one
// CPU core; lib/ner.libsonnet explains its options. `elmo new ner` is for chunks and entities.
local elmo = import 'lib/elmo.libsonnet';
local tagger = import 'lib/ner.libsonnet';
local words = import 'lib/words.libsonnet';

tagger(
  data='data',
  source_encoding='plain',
  metric='+accuracy',
  dropout=0.3,
  batch_size=16,
  epochs=15,
  patience=5,
) + words.bundled() + elmo.at(['input'], bilm='base', dropout=0.5, lambda=0.1, cache={ type: 'memory' })
