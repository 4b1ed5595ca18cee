// A semantic role labeller with ELMo at its input, from the biLM that comes with this package.
//
// Paper:     84.6 F1 on the CoNLL-2012 test set (baseline: 81.4), with a biLM of 2 x 4096 cells, 8 layers of 300 cells
//            and pretrained word vectors; training_config/srl_conll2012.jsonnet is closer to that.
// Here:      the biLM `base`, of 2 x 704 cells, and the small network of srl_baseline.jsonnet; the small data set of
//            this repository.
// Expected:  docs/results/small.json, three seeds; docs/results.md has larger data.
// Hardware:  one CPU core, three minutes of processor time.
local elmo = import '../elmo_plugin/jsonnet/elmo.libsonnet';

(import 'srl_baseline.jsonnet') + elmo.at(
  ['input'], bilm='base', dropout=0.5, lambda=0.001, cache={ type: 'memory' }
)
