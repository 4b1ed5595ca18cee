// A sentiment classifier with ELMo at the input and at the output of its lowest LSTM, from the biLM that comes with
// this package.
//
// Paper:     54.7 +- 0.5 % on the five classes of the SST test set (baseline: 51.4), with a biLM of 2 x 4096 cells,
//            LSTMs of 300 cells and GloVe vectors; training_config/sst.jsonnet is closer to that.
// Here:      the biLM `base`, of 2 x 704 cells; the rest is in sst_baseline.jsonnet.
// Expected:  docs/results/small.json, three seeds; docs/results.md has larger data.
// Hardware:  one CPU core, about a minute.
local elmo = import '../elmo_plugin/jsonnet/elmo.libsonnet';

(import 'sst_baseline.jsonnet')
+ elmo.at(['input', 'output'], bilm='base', dropout=0.5, lambda=0.001, cache={ type: 'memory' })
