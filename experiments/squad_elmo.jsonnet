// A question answering model with ELMo at its input and output, from the biLM that comes with this package.
//
// Paper:     85.8 F1 on SQuAD's test set (baseline: 81.1), with a biLM of 2 x 4096 cells and pretrained word vectors;
//            training_config/squad.jsonnet is closer to that.
// Here:      the biLM `base`, of 2 x 704 cells, and the small network of squad_baseline.jsonnet; a small penalty on
//            the mixing weights, as in the other tasks, where the paper has none; the small data set of this
//            repository.
// Expected:  docs/results/small.json, three seeds; docs/results.md has larger data.
// Hardware:  one CPU core, three minutes of processor time.
local elmo = import '../elmo_plugin/jsonnet/elmo.libsonnet';

(import 'squad_baseline.jsonnet') + elmo.at(
  ['input', 'output'], bilm='base', dropout=0.5, lambda=0.001, cache={ type: 'memory' }
)
