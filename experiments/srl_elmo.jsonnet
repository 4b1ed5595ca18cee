// A semantic role labeller with ELMo at its input, from the biLM that comes with this package.
//
// Paper:     84.6 F1 on the CoNLL-2012 test set (baseline: 81.4), with a biLM of 2 x 4096 cells, 8 layers of 300 cells
//            and pretrained word vectors; training_config/srl_conll2012.jsonnet is closer to that.
// Here:      the biLM `tiny`, of 2 x 512 cells, and the small network of srl_baseline.jsonnet; the small data set of
//            this repository, or any other by `-o '{"train_data_path": "...", "validation_data_path": "..."}'`.
// Expected:  docs/results/srl.json: the English Web Treebank.
// Hardware:  one CPU core, about three minutes.
local elmo = import '../training_config/lib/elmo.libsonnet';

(import 'srl_baseline.jsonnet') + elmo.at(
  ['input'], bilm='tiny', dropout=0.5, lambda=0.001, cache={ type: 'memory' }
)
