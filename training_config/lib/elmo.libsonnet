// Where ELMo enters a model. Add the result of `at` to the configuration of any task:
//
//     ner(data='experiments/data/ner') + elmo.at(['input', 'output'], bilm='tiny', lambda=0.1)
//
// Placements (Peters et al., 2018, section 3.3): 'input' is [x ; ELMo], before the task's encoder; 'output'
// is [h ; ELMo], behind it. Each has mixing weights of its own.
{
  // bilm:          a name ('tiny', 'original', ...), an archive of a biLM, or { options: ..., weights: ... }.
  // dropout:       the rate of dropout on ELMo's vectors.
  // lambda:        the strength of the L2 penalty on the mixing weights before their softmax; 0 for none.
  // layers:        'all', 'top', the number of a layer, or a list of such numbers.
  // layer_norm:    whether the layers are normalised before mixing.
  // requires_grad: whether the biLM is trained with the task.
  // precision:     in which numbers a frozen biLM computes: 'float32', 'bfloat16' or 'int8'.
  at(
    placements,
    bilm,
    dropout=0.5,
    lambda=0,
    layers='all',
    layer_norm=false,
    requires_grad=false,
    precision='float32'
  )::
    local embedder = {
      type: 'elmo',
      bilm: bilm,
      layers: layers,
      layer_norm: layer_norm,
      dropout: dropout,
      requires_grad: requires_grad,
      precision: precision,
    };
    local contextual_encoder_with = {
      input: { text_field_embedder+: { token_embedders+: { elmo: embedder } } },
      output: { output_elmo: embedder },
    };
    local place(placement) =
      if std.objectHas(contextual_encoder_with, placement)
      then { model+: { contextual_encoder+: contextual_encoder_with[placement] } }
      else error "elmo.at: a placement is 'input' or 'output', not " + std.manifestJsonEx(placement, '');
    local indexer = { dataset_reader+: { token_indexers+: { elmo: { type: 'elmo' } } } };
    local penalty = {
      model+: { regularizer+: { regexes+: [['.*scalar_mix\\.weights', { type: 'l2', alpha: lambda }]] } },
    };
    std.foldl(
      function(config, placement) config + place(placement),
      placements,
      (if std.length(placements) > 0 then indexer else {}) + (if lambda > 0 then penalty else {})
    ),
}
