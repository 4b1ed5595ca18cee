// What Peters et al. (2018) vary in section 5, for the models of ../ner_elmo.jsonnet, ../snli_elmo.jsonnet and
// ../sst_elmo.jsonnet. Each differs from its model in what its name says and in nothing else:
//
//     (import 'ablations.libsonnet').snli.top
//
// The paper's other models are beside those: without ELMo ../*_baseline.jsonnet, and with ELMo at one side only
// ../snli_elmo_input.jsonnet, ../snli_elmo_output.jsonnet, and likewise of sst.
local elmo = import '../../training_config/lib/elmo.libsonnet';
local words = import '../../training_config/lib/words.libsonnet';

// baseline: the model without ELMo.
// at:       adds ELMo as the model has it, but for what is given.
local ablations(baseline, at) = {
  // Section 5.1: the last layer alone; all layers, kept close to their mean or not.
  top: baseline + at(layers='top'),
  lambda_1: baseline + at(lambda=1),
  'lambda_0.001': baseline + at(lambda=0.001),

  // Section 5.2: where ELMo enters.
  output: baseline + at(['output']),
  both: baseline + at(['input', 'output']),

  // Section 5.6: of ELMo only the layer that does not see the context, in place of word vectors.
  token_layer: baseline + words.none() + at(['input'], layers='token'),

  // Section 5.7: ELMo without word vectors.
  no_words: baseline + words.none() + at(),
};
{
  ner: ablations(
    import '../ner_baseline.jsonnet',
    function(placements=['input'], layers='all', lambda=0.1)
      elmo.at(placements, bilm='tiny', dropout=0.5, layers=layers, lambda=lambda),
  ),
  snli: ablations(
    import '../snli_baseline.jsonnet',
    function(placements=['input', 'output'], layers='all', lambda=0.001)
      elmo.at(placements, bilm='tiny', dropout=0.5, layers=layers, lambda=lambda, layer_norm=true),
  ),
  sst: ablations(
    import '../sst_baseline.jsonnet',
    function(placements=['input', 'output'], layers='all', lambda=0.001)
      elmo.at(placements, bilm='tiny', dropout=0.5, layers=layers, lambda=lambda),
  ),
}
