// A sentiment classifier with ELMo at the input and at the output of its lowest LSTM, and with word vectors. A small
// network, for one CPU core; without options, `sst` has the sizes of Peters et al. (2018): see lib/sst.libsonnet.
local elmo = import 'lib/elmo.libsonnet';
local sst = import 'lib/sst.libsonnet';
local words = import 'lib/words.libsonnet';

sst(data='data', hidden=64, learning_rate=0.002, batch_size=32, epochs=12)
+ words.bundled()
+ elmo.at(['input', 'output'], bilm='base', dropout=0.5, lambda=0.001, cache={ type: 'memory' })
