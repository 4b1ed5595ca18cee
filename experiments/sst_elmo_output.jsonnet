// sst_elmo.jsonnet with ELMo behind the lowest LSTM only.
//
// Paper:     has no such figure for this task.
// Here:      as in sst_elmo.jsonnet.
// Expected:  about 75 % on dev (one seed), which tells little; 39.4 % on the sentences of the whole
//            treebank, where sst_elmo.jsonnet has 39.8 (docs/experiments.md).
// Hardware:  one CPU core, about five minutes.
local elmo = import '../training_config/lib/elmo.libsonnet';

(import 'sst_baseline.jsonnet') + elmo.at(['output'], bilm='tiny', dropout=0.5, lambda=0.001)
