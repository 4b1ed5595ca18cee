// The tagger of ner_elmo.jsonnet without ELMo, for comparison.
//
// Paper:     the same network scores 90.15 F1 on the CoNLL-2003 test set, with pretrained word vectors.
// Here:      no pretrained word vectors, so that nothing is downloaded; the small data set of this repository;
//            smaller batches, less dropout and less patience, because the data are small.
// Expected:  docs/results/examples.json, three seeds; docs/results.md has larger data.
// Hardware:  one CPU core, four minutes of processor time.
local ner = import '../elmo_plugin/jsonnet/ner.libsonnet';

ner(data='experiments/data/ner', dropout=0.3, batch_size=16, epochs=40, patience=10)
