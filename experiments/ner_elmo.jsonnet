// A named entity tagger with ELMo at its input, from the biLM `base`, which comes with this package.
//
// Paper:     92.22 +- 0.10 F1 on the CoNLL-2003 test set (baseline: 90.15), with a biLM of 2 x 4096 cells and
//            pretrained word vectors; training_config/ner_conll2003.jsonnet is closer to that.
// Here:      the biLM `base`, of 2 x 704 cells, and the package's word vectors; Wikigold, whose 1,038 sentences are in
//            this repository; the rest as in ner_baseline.jsonnet.
// Expected:  docs/results/small.json, three seeds; docs/results.md has larger data.
// Hardware:  one CPU core, five minutes of processor time.
local elmo = import '../elmo_plugin/jsonnet/elmo.libsonnet';
local ner = import '../elmo_plugin/jsonnet/ner.libsonnet';
local words = import '../elmo_plugin/jsonnet/words.libsonnet';

ner(
  data='experiments/data/ner', reader={ tag_column: 3 }, dropout=0.3, batch_size=16, epochs=15, patience=5
)
+ words.bundled()
+ elmo.at(['input'], bilm='base', dropout=0.5, lambda=0.1, cache={ type: 'memory' })
