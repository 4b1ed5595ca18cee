// sst_elmo.jsonnet with ELMo behind the lowest LSTM only.
//
// Paper:     has no such figure for this task.
// Here:      as in sst_elmo.jsonnet.
// Expected:  TODO(lead)
// Hardware:  TODO(lead)
local elmo = import '../training_config/lib/elmo.libsonnet';

(import 'sst_baseline.jsonnet') + elmo.at(['output'], bilm='tiny', dropout=0.5, lambda=0.001)
