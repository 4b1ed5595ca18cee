// snli_elmo.jsonnet with ELMo before the lowest LSTM only.
//
// Paper:     88.9 % on the SNLI dev set; 89.5 with both placements, 88.7 with ELMo at the output only (table 3).
// Here:      as in snli_elmo.jsonnet.
// Expected:  about 72 % on dev (one seed), where snli_baseline.jsonnet has about 55.
// Hardware:  one CPU core, four minutes.
local elmo = import '../training_config/lib/elmo.libsonnet';

(import 'snli_baseline.jsonnet') + elmo.at(['input'], bilm='tiny', dropout=0.5, lambda=0.001, layer_norm=true)
