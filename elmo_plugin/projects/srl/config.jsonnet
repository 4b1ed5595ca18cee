// A semantic role labeller with ELMo at its input, and with word vectors. A small network, for one CPU core; without
// options, `srl` has the sizes of Peters et al. (2018): see lib/srl.libsonnet.
local elmo = import 'lib/elmo.libsonnet';
local srl = import 'lib/srl.libsonnet';
local words = import 'lib/words.libsonnet';

srl(
  data='data',
  words=words.bundled(),
  num_layers=4,
  hidden=100,
  predicate_dim=50,
  optimizer={ optimizer: { type: 'adam', lr: 0.003 }, grad_norm: 5.0 },
  epochs=30,
  patience=5,
) + elmo.at(['input'], bilm='base', dropout=0.5, lambda=0.001, cache={ type: 'memory' })
