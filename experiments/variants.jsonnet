// What Peters et al. (2018) vary in section 5, as named variants of coref_elmo.jsonnet, ner_elmo.jsonnet,
// snli_elmo.jsonnet, squad_elmo.jsonnet, srl_elmo.jsonnet and sst_elmo.jsonnet, what the models of coreference and
// question answering are without some of their parts, and two ways to train faster. Each differs from `TASK_base` only in
// what its name says.
//
//     allennlp elmo-sweep experiments/variants.jsonnet:sst_top -s runs/sst
//     allennlp elmo-sweep 'experiments/variants.jsonnet:sst_*' -s runs/sst
//
// Paper:     accuracy on the SNLI dev set and F1 on the SRL dev set, given at each variant (tables 2, 3 and 7); for the models
//            with ELMo 89.5 % and 84.8, without 88.1 % and 81.6. The paper has no such figures for named entities and
//            sentiment.
// Here:      the biLM `base`, except in `TASK_elmo` and `TASK_bfloat16`, which have `tiny`; the small models of
//            *_baseline.jsonnet, with word vectors that are learned with the task.
// Expected:  docs/results/paper.json, three seeds; docs/analysis.md has it as a table.
// Hardware:  one CPU core, one to eight minutes per seed.
local elmo = import '../elmo_plugin/jsonnet/elmo.libsonnet';
local words = import '../elmo_plugin/jsonnet/words.libsonnet';

local static_words = words.glove('runs/static_vectors_base.txt', dim=512);

// baseline: the model without ELMo.
// at:       adds ELMo as the model has it, except for the given options.
local of_every_task(baseline, at) = {
  base: baseline + at(),

  // Section 5.1: the last layer alone, 89.1 % and 84.1; all layers, held close to their mean by a large lambda, 89.3 %
  // and 84.6.
  top: baseline + at(layers='top'),
  lambda_1: baseline + at(lambda=1),

  // Section 5.6: only ELMo's layer that does not see the context, in place of word vectors, 88.0 %
  // and 81.7.
  token_layer: baseline + words.none() + at(['input'], layers='token'),

  // Section 5.7: ELMo without word vectors, 89.1 % and 84.5.
  base_no_words: baseline + words.none() + at(),

  // A control: static vectors of the text that `base` was trained on (static_vectors.py makes them) in place of learned
  // word vectors, without ELMo and next to it. Does context help, or only more text?
  static_base: baseline + static_words,
  static_base_elmo: baseline + static_words + at(),

  // Products in bfloat16 while it trains: faster on some processors.
  bfloat16: baseline + at(bilm='tiny') + { trainer+: { callbacks+: [{ type: 'bfloat16' }] } },
};

// Section 5.2: ELMo at one side of the lowest LSTM only, 88.9 % at its input, 88.7 % at its output. For semantic roles
// the input is best, 84.7; at the output it is 80.9, at both 84.3.
local one_side(baseline, at) = {
  input: baseline + at(['input']),
  output: baseline + at(['output']),
};

local named(task, variants) = { [task + '_' + name]: variants[name] for name in std.objectFields(variants) };

// ELMo as in all tasks.
local elmo_at(placements, layers, lambda, bilm, layer_norm=false) = elmo.at(
  placements,
  bilm=bilm,
  dropout=0.5,
  layers=layers,
  lambda=lambda,
  layer_norm=layer_norm,
  cache={ type: 'memory' }
);

local coref_baseline = (import 'coref_baseline.jsonnet') + words.learned(dim=50);
local coref_at(placements=['input'], layers='all', lambda=0, bilm='base') =
  elmo_at(placements, layers, lambda, bilm);

// As long as WNUT-17 takes, for docs/results/whole.json.
local ner_baseline =
  (import 'ner_baseline.jsonnet') + words.learned(dim=50) + { trainer+: { num_epochs: 40, patience: 10 } };
local ner_at(placements=['input'], layers='all', lambda=0.1, bilm='base') =
  elmo_at(placements, layers, lambda, bilm);

local snli_baseline = (import 'snli_baseline.jsonnet') + words.learned(dim=100);
local snli_at(placements=['input', 'output'], layers='all', lambda=0.001, bilm='base') =
  elmo_at(placements, layers, lambda, bilm, layer_norm=true);

local squad_baseline = (import 'squad_baseline.jsonnet') + words.learned(dim=50);
local squad_at(placements=['input', 'output'], layers='all', lambda=0.001, bilm='base') =
  elmo_at(placements, layers, lambda, bilm);

local srl_baseline = (import 'srl_baseline.jsonnet') + words.learned(dim=50);
local srl_at(placements=['input'], layers='all', lambda=0.001, bilm='base') =
  elmo_at(placements, layers, lambda, bilm);

local sst_baseline = (import 'sst_baseline.jsonnet') + words.learned(dim=100);
local sst_at(placements=['input', 'output'], layers='all', lambda=0.001, bilm='base') =
  elmo_at(placements, layers, lambda, bilm);

named(
  'coref',
  of_every_task(coref_baseline, coref_at) {
    baseline: coref_baseline,
    elmo: coref_baseline + coref_at(bilm='tiny'),  // at the input, no penalty
    output: coref_baseline + coref_at(['output']),
    both: coref_baseline + coref_at(['input', 'output']),
    no_speakers: coref_baseline + coref_at() + { model+: { use_speakers: false } },
    no_genre: coref_baseline + coref_at() + { model+: { use_genre: false } },
    may_cross: coref_baseline + coref_at() + { model+: { may_cross: true } },
  }
)
+ named(
  'ner',
  of_every_task(ner_baseline, ner_at) {
    baseline: ner_baseline,
    elmo: ner_baseline + ner_at(bilm='tiny'),  // at the input, lambda = 0.1
    output: ner_baseline + ner_at(['output']),
    both: ner_baseline + ner_at(['input', 'output']),
    'lambda_0.001': ner_baseline + ner_at(lambda=0.001),
  }
)
+ named(
  'snli',
  of_every_task(snli_baseline, snli_at) + one_side(snli_baseline, snli_at) {
    baseline: snli_baseline,
    elmo: snli_baseline + snli_at(bilm='tiny'),  // at both sides, lambda = 0.001
  }
)
+ named(
  'squad',
  of_every_task(squad_baseline, squad_at) + one_side(squad_baseline, squad_at) {
    baseline: squad_baseline,
    elmo: squad_baseline + squad_at(bilm='tiny'),  // at both sides, lambda = 0.001
    no_self_attention: squad_baseline + squad_at() + {
      model+: { self_attention_encoder:: null, self_attention_projection:: null },
    },
    no_moving_average: squad_baseline + squad_at() + { trainer+: { moving_average:: null } },
    any_length: squad_baseline + squad_at() + { model+: { max_answer_words: null } },
  }
)
+ named(
  'srl',
  of_every_task(srl_baseline, srl_at) {
    baseline: srl_baseline,
    elmo: srl_baseline + srl_at(bilm='tiny'),  // at the input, lambda = 0.001
    output: srl_baseline + srl_at(['output']),
    both: srl_baseline + srl_at(['input', 'output']),
  }
)
+ named(
  'sst',
  of_every_task(sst_baseline, sst_at) + one_side(sst_baseline, sst_at) {
    baseline: sst_baseline,
    elmo: sst_baseline + sst_at(bilm='tiny'),  // at both sides, lambda = 0.001
  }
)
