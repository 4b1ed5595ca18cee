// An inference model with ELMo at the input and at the output of its lowest LSTM, from the biLM that comes with this
// package.
//
// Paper:     88.7 +- 0.17 % on the SNLI test set (baseline: 88.0), with a biLM of 2 x 4096 cells, LSTMs of 300
//            cells and GloVe vectors; training_config/snli.jsonnet is closer to that.
// Here:      the biLM `base`, of 2 x 704 cells; the rest is in snli_baseline.jsonnet.
// Expected:  docs/results/small.json, three seeds; docs/results.md has larger data.
// Hardware:  one CPU core, three and a half minutes of processor time.
local elmo = import '../elmo_plugin/jsonnet/elmo.libsonnet';

(import 'snli_baseline.jsonnet')
+ elmo.at(
  ['input', 'output'], bilm='base', dropout=0.5, lambda=0.001, layer_norm=true, cache={ type: 'memory' }
)
