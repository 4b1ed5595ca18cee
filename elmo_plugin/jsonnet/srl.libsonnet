// The semantic role labeller of Peters et al. (2018), without ELMo: the deep LSTM with highway connections of He et
// al. (2017). All numbers are the paper's (supplement A.5); the optimizer's eps and the batch size, which it does not
// report, are those of He et al.'s code. docs/paper_configs.md compares them.
//
//     srl(data='experiments/data/srl')
//
// data:          the folder of `train`, `dev` and optionally `test`, each a file or a folder of files.
// verbs_only:    whether predicates other than verbs are left out.
// reader, validation_reader: options of the dataset readers, or others with their `type`; see task.libsonnet.
// words:         the word vectors, from words.libsonnet.
// num_layers:    of the LSTM, which reads forward, backward, forward, …; hidden is the number of cells of each.
// predicate_dim: the size of the vectors that say which word is the predicate.
// dropout:       of the LSTM's hidden state (variational): the next word and the next layer see the same values dropped.
// optimizer:     part of the trainer, with the clipping of gradients that belongs to it.
// epochs:        at most; `patience` is the number of epochs without a better F1 on `dev`.
local task = import 'task.libsonnet';
local words_lib = import 'words.libsonnet';
// As the supplement has it: each value of a gradient is clipped, not its norm.
local adadelta = {
  optimizer: { type: 'adadelta', lr: 1.0, rho: 0.95, eps: 1e-6 },
  grad_norm:: null,
  grad_clipping: 1.0,
};

function(
  data,
  train='train.gold_conll',
  dev='dev.gold_conll',
  test=null,
  verbs_only=false,
  reader={},
  validation_reader={},
  words=words_lib.learned(dim=100),
  num_layers=8,
  hidden=300,
  predicate_dim=100,
  dropout=0.1,
  optimizer=adadelta,
  batch_size=80,
  epochs=500,
  patience=200,
)
  task.data(data, train, dev, test)
  + task.training(['tokens'], batch_size, 1.0, epochs, patience, metric='+f1-measure-overall')
  + task.readers({ type: 'srl_conll2012', verbs_only: verbs_only }, reader, validation_reader)
  + {
    model: {
      type: 'srl_highway_lstm',
      predicate_dim: predicate_dim,
      initializer: { regexes: [['tag_projection\\.weight', { type: 'orthogonal' }]] },
      contextual_encoder: {
        encoder: {
          type: 'highway_lstm',
          num_layers: num_layers,
          hidden_size: hidden,
          recurrent_dropout: dropout,
        },
      },
    },
    trainer+: optimizer,
  }
  + words
