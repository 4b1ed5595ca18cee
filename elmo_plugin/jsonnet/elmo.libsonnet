// Where ELMo enters a model. Add the result of `at` to the configuration of any task:
//
//     ner(data='experiments/data/ner') + elmo.at(['input', 'output'], bilm='base', lambda=0.1)
//
// Placements (Peters et al., 2018, section 3.3): 'input' is [x ; ELMo], before the task's encoder; 'output'
// is [h ; ELMo], after it. Each has mixing weights of its own, and may have options of its own:
//
//     … + elmo.at(['input'], bilm='base', lambda=0.1) + elmo.at(['output'], bilm='base', layers='top')
local is_layer(value) = std.isNumber(value) && value >= 0 && value == std.floor(value);
local are_layers(value) =
  if std.isArray(value)
  then std.length(value) > 0 && std.all([is_layer(layer) for layer in value])
  else std.member(['all', 'top', 'token'], value) || is_layer(value);
local shown(value) = std.strReplace(std.manifestJsonEx(value, ''), '\n', '');
local mixing_weights_of(placement) = 'contextual_encoder\\.elmo\\.mixes\\.%s\\.scalar_mix\\.weights' % placement;
local penalties(placements) = [
  [mixing_weights_of(name), { type: 'l2', alpha: placements[name].lambda }]
  for name in std.objectFields(placements)
  if placements[name].lambda > 0
];
local is_penalty(entry) = std.member([mixing_weights_of('input'), mixing_weights_of('output')], entry[0]);
{
  // The configuration without ELMo.
  none:: {},

  // bilm:           a name ('base', 'original', ...), an archive of a biLM, { options: ..., weights: ... }, or the
  //                 folder of a model of ELMoForManyLangs.
  // dropout:        the rate of dropout on ELMo's vectors.
  // lambda:         the strength of the L2 penalty on the mixing weights before their softmax; 0 for none.
  // layers:         'all', 'top', 'token', the number of a layer, or a list of such numbers; 0 is the token layer.
  // mixing_weights: fixed weights of these layers, such as [0.2, 0.5, 0.3]; they are learned if not given.
  // layer_norm:     whether each vector of each layer is normalized, over its own features, before mixing.
  // requires_grad:  whether the biLM is trained with the task.
  // precision:      of the numbers of a frozen biLM: 'float32', 'bfloat16' or 'int8'.
  // cache:          where the activations of a frozen biLM are stored, such as { type: 'memory' } or
  //                 { type: 'sqlite', path: 'cache' } (see docs/faster.md); they are computed each time if not given.
  // max_characters_per_token: the character ids of a word, if not 50; 194 for models of ELMoForManyLangs.
  at(
    placements,
    bilm,
    dropout=0.5,
    lambda=0,
    layers='all',
    mixing_weights=null,
    layer_norm=false,
    requires_grad=false,
    precision='float32',
    cache=null,
    max_characters_per_token=null
  )::
    // What the model has once, and what each placement has.
    local shared = { bilm: bilm, requires_grad: requires_grad, precision: precision, cache: cache };
    local mix = {
      layers: layers,
      layer_norm: layer_norm,
      dropout: dropout,
      [if mixing_weights != null then 'mixing_weights']: mixing_weights,
    };
    assert std.isArray(placements) && std.all([std.member(['input', 'output'], name) for name in placements]) :
           "elmo.at: placements are a list of 'input' and 'output', not " + shown(placements);
    assert std.length(std.set(placements)) == std.length(placements) :
           'elmo.at: each placement is named once, not ' + shown(placements);
    assert are_layers(layers) :
           "elmo.at: layers are 'all', 'top', 'token', the number of a layer, or a list of such numbers, not "
           + shown(layers);
    assert std.isNumber(lambda) && lambda >= 0 : 'elmo.at: lambda is a number, 0 or more, not ' + shown(lambda);
    assert lambda <= 1e6 : 'elmo.at: lambda is at most a million, not ' + shown(lambda);
    assert mixing_weights == null || std.isArray(mixing_weights) && std.all(std.map(std.isNumber, mixing_weights)) :
           'elmo.at: mixing_weights are a list of numbers, not ' + shown(mixing_weights);
    assert mixing_weights == null || std.abs(std.foldl(function(a, b) a + b, mixing_weights, 0) - 1) < 0.01 :
           'elmo.at: mixing_weights have the sum 1, not ' + shown(mixing_weights);
    assert mixing_weights == null || lambda == 0 : 'elmo.at: mixing_weights that are given need no lambda';
    assert std.isNumber(dropout) && dropout >= 0 && dropout < 1 :
           'elmo.at: dropout is a rate from 0 to 1, not ' + shown(dropout);
    assert cache == null || !requires_grad : 'elmo.at: a biLM that is trained (requires_grad) can have no cache';
    if placements == [] then {} else {
      local config = self,

      // The options of each placement that the model has once, and its lambda, as last added.
      elmo_placements+:: { [name]: { shared: shared, lambda: lambda } for name in placements },
      local placed = [config.elmo_placements[name] for name in std.objectFields(config.elmo_placements)],
      assert std.all([placement.shared == placed[0].shared for placement in placed]) :
             'elmo.at: all placements of a model have the same bilm, requires_grad, precision and cache, not '
             + shown([placement.shared for placement in placed]),

      dataset_reader+: { token_indexers+: { elmo+: {
        type: 'elmo',
        [if max_characters_per_token != null then 'max_characters_per_token']: max_characters_per_token,
      } } },
      model+: {
        contextual_encoder+: { elmo+: shared { [name]: mix for name in placements } },
        [if lambda > 0 then 'regularizer']+: {
          local others = if 'regexes' in super then super.regexes else [],
          regexes: [entry for entry in others if !is_penalty(entry)] + penalties(config.elmo_placements),
        },
      },
    },
}
