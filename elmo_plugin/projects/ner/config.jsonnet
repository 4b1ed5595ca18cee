// A named entity tagger with ELMo at its input, and with word vectors. A small network, for one CPU core; without
// options, `ner` has the sizes of Peters et al. (2018): see lib/ner.libsonnet.
local elmo = import 'lib/elmo.libsonnet';
local ner = import 'lib/ner.libsonnet';
local words = import 'lib/words.libsonnet';

ner(data='data', dropout=0.3, batch_size=16, epochs=15, patience=5)
+ words.bundled()
+ elmo.at(['input'], bilm='base', dropout=0.5, lambda=0.1, cache={ type: 'memory' })
