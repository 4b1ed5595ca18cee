// What the configurations of all tasks share. A task's library file is a sum of these, of its own reader and model,
// and of word vectors:
//
//     task.data('data', 'train.txt', 'dev.txt')
//     + task.training(['tokens'], batch_size=32, learning_rate=0.001, epochs=40, patience=5, metric='+accuracy')
//     + { dataset_reader: { type: … }, model: { type: …, contextual_encoder: { encoder: task.bilstm([300], 0.5) } } }
//     + words.learned(dim=100)
//
// `elmo.at` can be added to any model that takes a `contextual_encoder`.
{
  // The files of a data set, in a folder unless their paths are absolute. If there is a `test`, the model is evaluated
  // on it after training. The vocabulary counts each text once, however many questions, predicates or phrases it has.
  data(folder, train, dev, test=null):: {
    local path(file) = if std.startsWith(file, '/') then file else folder + '/' + file,
    assert !('model' in super) : 'a task comes first in a sum; word vectors, elmo.at and others are added after it',
    train_data_path: path(train),
    validation_data_path: path(dev),
    [if test != null then 'test_data_path']: path(test),
    [if test != null then 'evaluate_on_test']: true,
    vocabulary: { type: 'distinct_texts' },
  },

  // The dataset readers: the task's `own`, with the options of `reader`, or `reader` alone if it has a `type`. Validation
  // has the same reader with the options `validating` of the task, and those of `validation_reader` or another `type`.
  //
  //     sst(data='data', reader={ type: 'text_classification_json', tokenizer: 'penn_treebank' })
  readers(own, reader, validation_reader, validating={})::
    local has_type(options) = std.objectHas(options, 'type');
    local options = (if has_type(reader) then {} else validating) + validation_reader;
    {
      local config = self,

      dataset_reader: if has_type(reader) then reader else own + reader,
      [if options != {} then 'validation_dataset_reader']:
        if has_type(validation_reader)
        then { token_indexers: config.dataset_reader.token_indexers } + validation_reader
        else config.dataset_reader + options,
    },

  // Adam, and early stopping, on batches of instances that have about the same length.
  //
  // sorting_keys: the text fields of the reader whose lengths count.
  // epochs:       at most; `patience` is the number of epochs without a better `metric` on `dev`.
  // metric:       a name among the model's metrics after `+`, or after `-` where lower is better.
  training(sorting_keys, batch_size, learning_rate, epochs, patience, metric):: {
    data_loader: {
      batch_sampler: { type: 'bucket', batch_size: batch_size, sorting_keys: sorting_keys },
    },
    trainer: {
      type: 'resumable',
      checkpointer: { type: 'atomic' },
      optimizer: { type: 'adam', lr: learning_rate },
      grad_norm: 5.0,
      num_epochs: epochs,
      patience: patience,
      validation_metric: metric,
    },
  },

  // A biLSTM with variational dropout, on the input of each layer or in its recurrence; `hidden_sizes` has the size of
  // each layer in each direction.
  bilstm(hidden_sizes, dropout=0, recurrent_dropout=0):: {
    type: 'variational_bilstm',
    hidden_sizes: hidden_sizes,
    dropout: dropout,
    [if recurrent_dropout > 0 then 'recurrent_dropout']: recurrent_dropout,
  },

  // Feed-forward ReLU layers, with the embedder's or encoder's size as their input.
  feedforward(num_layers, hidden):: { num_layers: num_layers, hidden_dims: hidden, activations: 'relu' },

  // A character CNN next to the word vectors: `dim` numbers for each character, `num_filters` of each of the `widths`,
  // which are numbers of characters; words may be shorter. `dropout` is that of the characters' numbers.
  character_cnn(dim, num_filters, widths, dropout=0.0):: {
    dataset_reader+: {
      token_indexers+: {
        token_characters: { type: 'characters', min_padding_length: 1 },
      },
    },
    model+: { contextual_encoder+: { text_field_embedder+: { token_embedders+: { token_characters: {
      type: 'character_cnn',
      embedding: { embedding_dim: dim, vocab_namespace: 'token_characters' },
      num_filters: num_filters,
      widths: widths,
      dropout: dropout,
    } } } } },
  },
}
