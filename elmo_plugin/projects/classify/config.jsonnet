// A classifier of texts with ELMo at the input and at the output of its lowest LSTM, and with word vectors. A small
// network, for one CPU core; lib/sst.libsonnet explains its options.
local classifier = import 'lib/sst.libsonnet';
local elmo = import 'lib/elmo.libsonnet';
local words = import 'lib/words.libsonnet';

classifier(data='data', train='train.jsonl', dev='dev.jsonl', hidden=64, learning_rate=0.002, batch_size=32, epochs=12)
+ words.bundled()
+ elmo.at(['input', 'output'], bilm='base', dropout=0.5, lambda=0.001, cache={ type: 'memory' })
