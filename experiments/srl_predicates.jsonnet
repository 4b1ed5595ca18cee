// A tagger that finds the predicates of plain sentences for the labeller of srl_elmo.jsonnet, with ELMo at its input:
//
//     allennlp predict SRL.tar.gz sentences.jsonl --predictor elmo_srl \
//         --predictor-args '{"predicates": "PREDICATES.tar.gz"}'
//
// Paper:     has no such tagger; predicates are given.
// Here:      one biLSTM layer of 100 cells and the biLM `tiny`; the small data set of this repository.
// Expected:  docs/results/examples.json, F1 of predicates.
// Hardware:  one CPU core, under a minute.
local elmo = import '../elmo_plugin/jsonnet/elmo.libsonnet';
local srl_predicates = import '../elmo_plugin/jsonnet/srl_predicates.libsonnet';

srl_predicates(data='experiments/data/srl') + elmo.at(['input'], bilm='tiny', dropout=0.5, lambda=0.001)
