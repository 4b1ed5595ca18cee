// ../sst_elmo.jsonnet with the biLM's last layer alone in place of a learned mix of all.
//
// Paper:     not told for sentiment; 89.1 % on the SNLI dev set, against 89.5 with the mix and 88.1 without
//            ELMo (table 2).
// Here:      all else is as in ../sst_elmo.jsonnet.
// Expected:  TODO(lead)
// Hardware:  TODO(lead)
(import 'ablations.libsonnet').sst.top
