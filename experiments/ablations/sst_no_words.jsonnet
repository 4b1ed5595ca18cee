// ../sst_elmo.jsonnet without word vectors.
//
// Paper:     not told for sentiment; 89.1 % on the SNLI dev set, against 89.5 with GloVe (table 7).
// Here:      all else is as in ../sst_elmo.jsonnet.
// Expected:  about 61 % on dev (one seed), which tells little; 39.9 % on the sentences of the whole
//            treebank, where ../sst_elmo.jsonnet has 39.8 (docs/experiments.md).
// Hardware:  one CPU core, about three minutes.
(import 'ablations.libsonnet').sst.no_words
