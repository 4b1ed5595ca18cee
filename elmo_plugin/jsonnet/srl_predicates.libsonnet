// A tagger of predicates, for sentences without marked predicates: biLSTM layers and a decision for each word. It
// is trained from the files of srl.libsonnet, and `elmo_srl` takes its archive. The paper has none: its data have
// the predicates.
//
//     srl_predicates(data='experiments/data/srl')
//
// data, verbs_only, reader, validation_reader, words: as in srl.libsonnet.
// hidden_sizes: of each biLSTM layer in each direction.
// epochs:       at most; `patience` is the number of epochs without a better F1 on `dev`.
local task = import 'task.libsonnet';
local words_lib = import 'words.libsonnet';

function(
  data,
  train='train.gold_conll',
  dev='dev.gold_conll',
  test=null,
  verbs_only=false,
  reader={},
  validation_reader={},
  words=words_lib.learned(dim=100),
  hidden_sizes=[100],
  dropout=0.3,
  learning_rate=0.001,
  batch_size=32,
  epochs=40,
  patience=5,
)
  task.data(data, train, dev, test)
  + task.training(['tokens'], batch_size, learning_rate, epochs, patience, metric='+f1')
  + task.readers({ type: 'srl_predicates', verbs_only: verbs_only }, reader, validation_reader)
  + {
    model: {
      type: 'srl_predicates',
      contextual_encoder: { encoder: task.bilstm(hidden_sizes, dropout) },
    },
  }
  + words
