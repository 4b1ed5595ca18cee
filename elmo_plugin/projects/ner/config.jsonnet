// A named entity tagger with ELMo at its input, from the biLM `tiny`, which comes with elmo_plugin. A small network, for one CPU
// core; without options, `ner` has the sizes of Peters et al. (2018): see lib/ner.libsonnet.
local elmo = import 'lib/elmo.libsonnet';
local ner = import 'lib/ner.libsonnet';

ner(data='data', dropout=0.3, batch_size=16, epochs=40, patience=10)
+ elmo.at(['input'], bilm='tiny', dropout=0.5, lambda=0.1, cache={ type: 'memory' })
