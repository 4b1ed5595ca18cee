// The named entity tagger of Peters et al. (2018), without ELMo: word vectors and a character CNN, two biLSTM
// layers with variational dropout, a CRF. All sizes are the paper's, those that it does not tell are marked.
//
//     ner(data='experiments/data/ner')
//
// data:            the folder of `train`, `dev` and, if there is one, `test`, in the columns of CoNLL-2003.
// source_encoding: of the tags in these files, 'BIO', 'IOB1' or 'BIOUL'.
// words:           the word vectors, from words.libsonnet.
// epochs:          at most; `patience` is how many of them may pass without a better F1 on `dev`.
local words_lib = import 'words.libsonnet';

function(
  data,
  train='train.txt',
  dev='dev.txt',
  test=null,
  source_encoding='BIO',
  words=words_lib.learned(dim=50),
  dropout=0.3,  // not told
  batch_size=16,  // not told
  epochs=75,  // not told
  patience=10,  // not told
) {
  local tag_encoding = 'BIOUL',
  local character_dim = 16,

  dataset_reader: {
    type: 'ner_conll2003',
    source_encoding: source_encoding,
    tag_encoding: tag_encoding,
    token_indexers: {
      token_characters: { type: 'characters', min_padding_length: 3 },
    },
  },
  train_data_path: data + '/' + train,
  validation_data_path: data + '/' + dev,
  [if test != null then 'test_data_path']: data + '/' + test,
  [if test != null then 'evaluate_on_test']: true,
  model: {
    type: 'ner_bilstm_crf',
    tag_encoding: tag_encoding,
    contextual_encoder: {
      text_field_embedder: {
        token_embedders: {
          token_characters: {
            type: 'character_encoding',
            embedding: { embedding_dim: character_dim, vocab_namespace: 'token_characters' },
            encoder: {
              type: 'cnn',
              embedding_dim: character_dim,
              num_filters: 128,
              ngram_filter_sizes: [3],
              conv_layer_activation: 'relu',
            },
          },
        },
      },
      encoder: { type: 'variational_bilstm', hidden_sizes: [200, 100], dropout: dropout },
    },
  },
  data_loader: {
    batch_sampler: { type: 'bucket', batch_size: batch_size, sorting_keys: ['tokens'] },
  },
  trainer: {
    optimizer: { type: 'adam', lr: 0.001 },
    grad_norm: 5.0,
    num_epochs: epochs,
    patience: patience,
    validation_metric: '+f1-measure-overall',
  },
} + words
