// A coreference model with ELMo at its input, from the biLM that comes with this package.
//
// Paper:     70.4 average F1 on the CoNLL-2012 test set (baseline: 67.2), with a biLM of 2 x 4096 cells and pretrained
//            word vectors; training_config/coref_conll2012.jsonnet is closer to that.
// Here:      the biLM `base`, of 2 x 704 cells, and the small network of coref_baseline.jsonnet; the small data set
//            of this repository.
// Expected:  docs/results/small.json, three seeds; docs/results.md has larger data.
// Hardware:  one CPU core, three and a half minutes of processor time.
local elmo = import '../elmo_plugin/jsonnet/elmo.libsonnet';

(import 'coref_baseline.jsonnet') + elmo.at(
  ['input'], bilm='base', dropout=0.5, cache={ type: 'memory' }
)
