// A tagger that finds the predicates of plain sentences for the labeller of srl_elmo.jsonnet, with ELMo at its input:
//
//     allennlp predict SRL.tar.gz sentences.jsonl --predictor elmo_srl \
//         --predictor-args '{"predicates": "PREDICATES.tar.gz"}'
//
// Paper:     has no such tagger; predicates are given.
// Here:      one biLSTM layer of 100 cells and the biLM `base`, with the word vectors of this package; the small data
//            set of this repository.
// Expected:  docs/results/small.json, F1 of predicates.
// Hardware:  one CPU core, under a minute.
local elmo = import '../elmo_plugin/jsonnet/elmo.libsonnet';
local srl_predicates = import '../elmo_plugin/jsonnet/srl_predicates.libsonnet';
local words = import '../elmo_plugin/jsonnet/words.libsonnet';

srl_predicates(data='experiments/data/srl', words=words.bundled())
+ elmo.at(['input'], bilm='base', dropout=0.5, lambda=0.001, cache={ type: 'memory' })
