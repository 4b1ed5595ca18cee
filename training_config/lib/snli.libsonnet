// The inference model of Peters et al. (2018), without ELMo: the sequential ESIM of Chen et al. (2017). All sizes
// are the paper's, those that it does not tell are marked.
//
//     snli(data='experiments/data/snli')
//
// data:     the folder of `train`, `dev` and, if there is one, `test`, as SNLI's .jsonl, plain or .gz.
// words:    the word vectors, from words.libsonnet.
// hidden:   the size of all LSTMs (of each direction) and of all feed-forward layers.
// dropout:  on the LSTMs' inputs (variational), behind the attention, and before the last two layers.
// l2:       the strength of the L2 penalty on the weight matrices of LSTMs and feed-forward layers; 0 for none.
// epochs:   at most; `patience` is how many of them may pass without a better accuracy on `dev`, and
//           `rate_patience` how many before the learning rate is halved.
local words_lib = import 'words.libsonnet';

function(
  data,
  train='train.jsonl',
  dev='dev.jsonl',
  test=null,
  words=words_lib.learned(dim=100),
  hidden=300,
  dropout=0.5,
  l2=0.0001,
  learning_rate=0.0004,
  batch_size=32,
  epochs=75,  // not told
  patience=5,  // not told
  rate_patience=0,
) {
  local bilstm = { type: 'variational_bilstm', hidden_sizes: [hidden], dropout: dropout },
  local feedforward = { num_layers: 1, hidden_dims: hidden, activations: 'relu' },

  dataset_reader: { type: 'snli_jsonl' },
  train_data_path: data + '/' + train,
  validation_data_path: data + '/' + dev,
  [if test != null then 'test_data_path']: data + '/' + test,
  [if test != null then 'evaluate_on_test']: true,
  model: {
    type: 'snli_esim',
    contextual_encoder: { encoder: bilstm },
    projection: feedforward,
    inference_encoder: bilstm,
    classifier: feedforward,
    dropout: dropout,
    [if l2 > 0 then 'regularizer']: {
      regexes: [[
        '^(contextual_encoder\\.encoder|projection|inference_encoder|classifier|output_logits)\\..*weight',
        { type: 'l2', alpha: l2 },
      ]],
    },
  },
  data_loader: {
    batch_sampler: { type: 'bucket', batch_size: batch_size, sorting_keys: ['premise', 'hypothesis'] },
  },
  trainer: {
    optimizer: { type: 'adam', lr: learning_rate },
    grad_norm: 5.0,
    learning_rate_scheduler: {
      type: 'reduce_on_plateau',
      mode: 'max',
      factor: 0.5,
      patience: rate_patience,
    },
    num_epochs: epochs,
    patience: patience,
    validation_metric: '+accuracy',
  },
} + words
