// ../ner_baseline.jsonnet with the biLM's token layer, which does not see the context, in place of word
// vectors.
//
// Paper:     not told for named entities; 88.0 % on the SNLI dev set, against 88.1 with GloVe (table 7).
// Here:      ELMo's other options are those of ../ner_elmo.jsonnet; the character CNN stays.
// Expected:  about 86 F1 on dev (one seed), where ../ner_elmo.jsonnet has about 86.
// Hardware:  one CPU core, about a minute.
(import 'ablations.libsonnet').ner.token_layer
