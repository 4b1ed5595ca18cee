// An inference model with ELMo at the input and at the output of its lowest LSTM, and with word vectors. A small
// network, for one CPU core; without options, `snli` has the sizes of Peters et al. (2018): see lib/snli.libsonnet.
local elmo = import 'lib/elmo.libsonnet';
local snli = import 'lib/snli.libsonnet';
local words = import 'lib/words.libsonnet';

snli(
  data='data',
  hidden=100,
  dropout=0.2,
  learning_rate=0.001,
  epochs=30,
  patience=10,
  rate_patience=3,
) + words.bundled() + elmo.at(
  ['input', 'output'], bilm='base', dropout=0.5, lambda=0.001, layer_norm=true, cache={ type: 'memory' }
)
