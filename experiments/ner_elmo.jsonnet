// A named entity tagger with ELMo at its input, from the biLM that comes with this package.
//
// Paper:     92.22 +- 0.10 F1 on the CoNLL-2003 test set (baseline: 90.15), with a biLM of 2 x 4096 cells and
//            pretrained word vectors; training_config/ner_conll2003.jsonnet is closer to that.
// Here:      the biLM `tiny`, of 2 x 512 cells, and no pretrained word vectors, so that nothing is downloaded; the
//            small data set of this repository; the rest as in ner_baseline.jsonnet.
// Expected:  docs/results/examples.json, three seeds; docs/results.md has larger data.
// Hardware:  one CPU core, five minutes of processor time.
local elmo = import '../elmo_plugin/jsonnet/elmo.libsonnet';
local ner = import '../elmo_plugin/jsonnet/ner.libsonnet';

ner(data='experiments/data/ner', dropout=0.3, batch_size=16, epochs=40, patience=10)
+ elmo.at(['input'], bilm='tiny', dropout=0.5, lambda=0.1, cache={ type: 'memory' })
