// The tagger of ner_elmo.jsonnet without ELMo, for comparison.
//
// Paper:     the same network scores 90.15 F1 on the CoNLL-2003 test set, with pretrained word vectors.
// Here:      no pretrained word vectors, so that there is nothing to download; the small data set of this
//            repository, or any other by `-o '{"train_data_path": "...", "validation_data_path": "..."}'`; smaller
//            batches, less dropout and less patience, as for little data.
// Expected:  docs/results/ner.json: WNUT-17, three seeds.
// Hardware:  one CPU core, about three minutes.
local ner = import '../training_config/lib/ner.libsonnet';

ner(data='experiments/data/ner', dropout=0.3, batch_size=16, epochs=40, patience=10)
