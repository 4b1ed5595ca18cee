// ../ner_elmo.jsonnet with the biLM's last layer alone in place of a learned mix of all.
//
// Paper:     not told for named entities; 89.1 % on the SNLI dev set, against 89.5 with the mix and 88.1
//            without ELMo (table 2).
// Here:      all else is as in ../ner_elmo.jsonnet.
// Expected:  about 87 F1 on dev (one seed), where ../ner_elmo.jsonnet has about 86.
// Hardware:  one CPU core, about a minute.
(import 'ablations.libsonnet').ner.top
