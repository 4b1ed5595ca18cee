// A question answering model with ELMo at its input and output, and with word vectors. A small network, for one CPU
// core; without options, `squad` has the sizes of Peters et al. (2018): see lib/squad.libsonnet.
local elmo = import 'lib/elmo.libsonnet';
local squad = import 'lib/squad.libsonnet';
local words = import 'lib/words.libsonnet';

squad(
  data='data',
  max_paragraph_words=400,
  words=words.bundled(),
  characters={ dim: 16, num_filters: 32, widths: [5] },
  hidden=40,
  moving_average=0.99,
  optimizer={ optimizer: { type: 'adam', lr: 0.002 }, grad_norm: 5.0 },
  batch_size=32,
  epochs=12,
  patience=5,
) + elmo.at(['input', 'output'], bilm='base', dropout=0.5, lambda=0.001, cache={ type: 'memory' })
