// A tagger of words with ELMo at its input, and with word vectors: biLSTM layers and a CRF. A small network, for one
// CPU core; lib/ner.libsonnet explains its options. For chunks or entities, leave out `metric`.
local elmo = import 'lib/elmo.libsonnet';
local tagger = import 'lib/ner.libsonnet';
local words = import 'lib/words.libsonnet';

tagger(
  data='data', train='train.tsv', dev='dev.tsv', dropout=0.3, batch_size=16, epochs=15, patience=5, metric='+accuracy'
) + words.bundled() + elmo.at(['input'], bilm='base', dropout=0.5, lambda=0.1, cache={ type: 'memory' })
