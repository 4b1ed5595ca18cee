// ../snli_baseline.jsonnet with the biLM's token layer, which does not see the context, in place of word
// vectors.
//
// Paper:     88.0 % on the SNLI dev set, against 88.1 with GloVe (table 7).
// Here:      ELMo's other options are those of ../snli_elmo.jsonnet.
// Expected:  about 72 % on dev (one seed), where ../snli_elmo.jsonnet has about 78.
// Hardware:  one CPU core, about three minutes.
(import 'ablations.libsonnet').snli.token_layer
