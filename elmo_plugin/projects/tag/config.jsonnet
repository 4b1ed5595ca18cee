// A tagger of words with ELMo at its input, from the biLM `tiny`, which comes with elmo_plugin: biLSTM layers and a CRF. A small
// network, for one CPU core; lib/ner.libsonnet explains its options. For chunks or entities, leave out `metric`.
local elmo = import 'lib/elmo.libsonnet';
local tagger = import 'lib/ner.libsonnet';

tagger(
  data='data', train='train.tsv', dev='dev.tsv', dropout=0.3, batch_size=16, epochs=40, patience=10, metric='+accuracy'
) + elmo.at(['input'], bilm='tiny', dropout=0.5, lambda=0.1, cache={ type: 'memory' })
