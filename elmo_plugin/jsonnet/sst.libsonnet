// The sentiment classifier of Peters et al. (2018), without ELMo: the biattentive classification network of McCann
// et al. (2017), with feed-forward layers in place of the last maxout layers. All numbers are the paper's (supplement
// A.8); those that it does not report are marked, and those of allennlp are its
// training_config/biattentive_classification_network_elmo.json's. docs/paper_configs.md compares them.
//
//     sst(data='experiments/data/sst')
//
// data:              the folder of `train`, `dev` and optionally `test`, as trees, plain or .gz.
// binary:            whether to classify only positive and negative, without neutral.
// min_phrase_length: train on phrases of at least this many words, too; null for sentences only, as in
//                    validation.
// reader, validation_reader: options of the dataset readers, or others with their `type`; see task.libsonnet.
// words:             the word vectors, from words.libsonnet.
// hidden:            the size of both LSTMs (in each direction) and of all feed-forward layers.
// dropout:           on the embedded words and the LSTMs' inputs (variational), and in the layers after pooling.
// epochs:            at most; `patience` is the number of epochs without a better accuracy on `dev`.
local task = import 'task.libsonnet';
local words_lib = import 'words.libsonnet';

function(
  data,
  train='train.txt',
  dev='dev.txt',
  test=null,
  binary=false,
  min_phrase_length=4,
  reader={},
  validation_reader={},
  words=words_lib.learned(dim=100),
  hidden=300,
  dropout=0.2,  // ours
  learning_rate=0.0001,
  batch_size=100,  // allennlp
  epochs=40,  // allennlp
  patience=5,  // allennlp
)
  task.data(data, train, dev, test)
  // The norm that gradients are clipped to is allennlp's, too.
  + task.training(['tokens'], batch_size, learning_rate, epochs, patience, metric='+accuracy')
  + task.readers(
    { type: 'sst_trees', binary: binary, min_phrase_length: min_phrase_length },
    reader,
    validation_reader,
    validating={ min_phrase_length: null },
  )
  + {
    model: {
      type: 'sst_bcn',
      contextual_encoder: {
        dropout: dropout,
        feedforward: task.feedforward(1, hidden),
        encoder: task.bilstm([hidden], dropout),
      },
      integrator: task.bilstm([hidden], dropout),
      classifier: task.feedforward(2, hidden) { dropout: dropout },
      dropout: dropout,
    },
  }
  + words
