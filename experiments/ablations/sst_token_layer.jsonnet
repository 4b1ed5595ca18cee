// ../sst_baseline.jsonnet with the biLM's token layer, which does not see the context, in place of word
// vectors.
//
// Paper:     not told for sentiment; 88.0 % on the SNLI dev set, against 88.1 with GloVe (table 7).
// Here:      ELMo's other options are those of ../sst_elmo.jsonnet.
// Expected:  about 59 % on dev (one seed), which tells little; 38.3 % on the sentences of the whole
//            treebank, where ../sst_elmo.jsonnet has 39.8 (docs/experiments.md).
// Hardware:  one CPU core, about three minutes.
(import 'ablations.libsonnet').sst.token_layer
