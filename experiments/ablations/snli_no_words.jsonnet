// ../snli_elmo.jsonnet without word vectors.
//
// Paper:     89.1 % on the SNLI dev set, against 89.5 with GloVe (table 7).
// Here:      all else is as in ../snli_elmo.jsonnet.
// Expected:  about 80 % on dev (one seed), where ../snli_elmo.jsonnet has about 78.
// Hardware:  one CPU core, about six minutes.
(import 'ablations.libsonnet').snli.no_words
