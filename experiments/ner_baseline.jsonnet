// The tagger of ner_elmo.jsonnet without ELMo, for comparison.
//
// Paper:     the same network scores 90.15 F1 on the CoNLL-2003 test set, with pretrained word vectors.
// Here:      the word vectors of this package, 40,000 x 100; Wikigold, whose 1,038 sentences are in this repository;
//            smaller batches, less dropout and fewer epochs, because the data are small.
// Expected:  docs/results/small.json, three seeds; docs/results.md has larger data.
// Hardware:  one CPU core, four minutes of processor time.
local ner = import '../elmo_plugin/jsonnet/ner.libsonnet';
local words = import '../elmo_plugin/jsonnet/words.libsonnet';

ner(
  data='experiments/data/ner', reader={ tag_column: 3 }, dropout=0.3, batch_size=16, epochs=15, patience=5
)
+ words.bundled()
