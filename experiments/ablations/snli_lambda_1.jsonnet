// ../snli_elmo.jsonnet with lambda = 1, which keeps ELMo near the mean of the layers.
//
// Paper:     89.3 % on the SNLI dev set, against 89.5 at 0.001 and 88.1 without ELMo (table 2).
// Here:      there it is 0.001; all else is as in ../snli_elmo.jsonnet.
// Expected:  about 80 % on dev (one seed), where ../snli_elmo.jsonnet has about 78.
// Hardware:  one CPU core, about four minutes.
(import 'ablations.libsonnet').snli.lambda_1
