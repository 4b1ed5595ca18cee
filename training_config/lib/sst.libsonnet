// The sentiment classifier of Peters et al. (2018), without ELMo: the biattentive classification network of McCann
// et al. (2017), with feed-forward layers in place of the last maxout layers. All sizes are the paper's, those that
// it does not tell are marked.
//
//     sst(data='experiments/data/sst')
//
// data:              the folder of `train`, `dev` and, if there is one, `test`, as trees, plain or .gz.
// binary:            whether to tell only positive from negative, without what is neutral.
// min_phrase_length: training has each phrase of so many words, too; null for sentences alone, as in validation.
// words:             the word vectors, from words.libsonnet.
// hidden:            the size of both LSTMs (of each direction) and of all feed-forward layers.
// dropout:           on the embedded words and the LSTMs' inputs (variational), and in the layers behind pooling.
// epochs:            at most; `patience` is how many of them may pass without a better accuracy on `dev`.
local words_lib = import 'words.libsonnet';

function(
  data,
  train='train.txt',
  dev='dev.txt',
  test=null,
  binary=false,
  min_phrase_length=4,
  words=words_lib.learned(dim=100),
  hidden=300,
  dropout=0.2,  // not told
  learning_rate=0.0001,
  batch_size=32,  // not told
  epochs=40,  // not told
  patience=5,  // not told
) {
  local config = self,
  local bilstm = { type: 'variational_bilstm', hidden_sizes: [hidden], dropout: dropout },

  dataset_reader: { type: 'sst_trees', binary: binary, min_phrase_length: min_phrase_length },
  validation_dataset_reader: config.dataset_reader { min_phrase_length: null },
  train_data_path: data + '/' + train,
  validation_data_path: data + '/' + dev,
  [if test != null then 'test_data_path']: data + '/' + test,
  [if test != null then 'evaluate_on_test']: true,
  model: {
    type: 'sst_bcn',
    contextual_encoder: {
      dropout: dropout,
      feedforward: { num_layers: 1, hidden_dims: hidden, activations: 'relu' },
      encoder: bilstm,
    },
    integrator: bilstm,
    classifier: { num_layers: 2, hidden_dims: hidden, activations: 'relu', dropout: dropout },
    dropout: dropout,
  },
  data_loader: {
    batch_sampler: { type: 'bucket', batch_size: batch_size, sorting_keys: ['tokens'] },
  },
  trainer: {
    optimizer: { type: 'adam', lr: learning_rate },
    grad_norm: 5.0,  // not told
    num_epochs: epochs,
    patience: patience,
    validation_metric: '+accuracy',
  },
} + words
