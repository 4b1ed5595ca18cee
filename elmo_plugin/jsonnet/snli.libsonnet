// The inference model of Peters et al. (2018), without ELMo: the sequential ESIM of Chen et al. (2017). All numbers
// are the paper's (supplement A.3); those that it does not report are marked, and are those of allennlp's
// training_config/esim_elmo.jsonnet. docs/paper_configs.md compares them.
//
//     snli(data='experiments/data/snli')
//
// data:     the folder of `train`, `dev` and optionally `test`, as SNLI's .jsonl, plain or .gz.
// reader, validation_reader: options of the dataset readers, or others with their `type`; see task.libsonnet.
// words:    the word vectors, from words.libsonnet.
// hidden:   the size of all LSTMs (in each direction) and of all feed-forward layers.
// dropout:  on the LSTMs' inputs (variational), after the attention, and before the last two layers.
// l2:       the strength of the L2 penalty on the weight matrices of LSTMs and feed-forward layers; 0 for none.
// epochs:   at most; `patience` is the number of epochs without a better accuracy on `dev`, and `rate_patience` the number
//           after which the learning rate is halved.
local task = import 'task.libsonnet';
local words_lib = import 'words.libsonnet';

function(
  data,
  train='train.jsonl',
  dev='dev.jsonl',
  test=null,
  reader={},
  validation_reader={},
  words=words_lib.learned(dim=100),
  hidden=300,
  dropout=0.5,
  l2=0.0001,
  learning_rate=0.0004,
  batch_size=32,
  epochs=75,  // allennlp
  patience=5,  // allennlp
  rate_patience=0,
)
  task.data(data, train, dev, test)
  + task.training(
    ['premise', 'hypothesis'], batch_size, learning_rate, epochs, patience, metric='+accuracy'
  )
  + task.readers({ type: 'snli_jsonl' }, reader, validation_reader)
  + {
    model: {
      type: 'snli_esim',
      contextual_encoder: { encoder: task.bilstm([hidden], dropout) },
      projection: task.feedforward(1, hidden),
      inference_encoder: task.bilstm([hidden], dropout),
      classifier: task.feedforward(1, hidden),
      dropout: dropout,
      [if l2 > 0 then 'regularizer']: {
        regexes: [[
          '^(contextual_encoder\\.encoder|projection|inference_encoder|classifier|output_logits)\\..*weight',
          { type: 'l2', alpha: l2 },
        ]],
      },
    },
    trainer+: {
      learning_rate_scheduler: {
        type: 'reduce_on_plateau',
        mode: 'max',
        factor: 0.5,
        patience: rate_patience,
      },
    },
  }
  + words
