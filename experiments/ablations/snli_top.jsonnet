// ../snli_elmo.jsonnet with the biLM's last layer alone in place of a learned mix of all.
//
// Paper:     89.1 % on the SNLI dev set, against 89.5 with the mix and 88.1 without ELMo (table 2).
// Here:      all else is as in ../snli_elmo.jsonnet.
// Expected:  about 70 % on dev (one seed), where ../snli_elmo.jsonnet has about 78.
// Hardware:  one CPU core, about eight minutes.
(import 'ablations.libsonnet').snli.top
