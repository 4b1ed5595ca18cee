// The question answering model of Peters et al. (2018), without ELMo: BiDAF with self-attention (Clark and Gardner,
// 2018). All numbers are those of the code that the authors released, document-qa's docqa/elmo/ablate_elmo_model.py, which
// agree with the paper's (supplement A.4). docs/paper_configs.md compares them.
//
//     squad(data='experiments/data/squad')
//
// data:                the folder of `train`, `dev` and optionally `test`, in SQuAD 1.1's JSON, plain or .gz.
// max_paragraph_words: longer paragraphs are left out of training; null for none.
// reader, validation_reader: options of the dataset readers, or others with their `type`; see task.libsonnet.
// words:               the word vectors, from words.libsonnet.
// characters:          the numbers for each character, the filters, and the characters that a filter sees.
// hidden:              the cells of each GRU in each direction; the layers between them have twice the size.
// dropout:             variational, on the embedded words and on the inputs of GRUs; and on characters.
// self_attention:      whether there is the residual block with self-attention.
// max_answer_words:    of a predicted answer; null for any number.
// word_in_question:    whether the network knows which words of a paragraph the question has. The paper's does not.
// train_on:            'all' right answers of a question together, or the 'first'.
// moving_average:      the decay of the average of the weights, which validation and the archive have; null for none.
// optimizer:           part of the trainer, with the clipping of gradients that belongs to it.
// epochs:              at most; `patience` is the number of epochs without a better F1 on `dev`, null for
//                      any number.
local task = import 'task.libsonnet';
local words_lib = import 'words.libsonnet';
local adadelta = { optimizer: { type: 'adadelta', lr: 1.0, rho: 0.95, eps: 1e-8 }, grad_norm:: null };

function(
  data,
  train='train.json',
  dev='dev.json',
  test=null,
  max_paragraph_words=null,
  reader={},
  validation_reader={},
  words=words_lib.learned(dim=100),
  characters={ dim: 20, num_filters: 100, widths: [5] },
  hidden=90,
  dropout=0.2,
  self_attention=true,
  max_answer_words=17,
  word_in_question=false,
  train_on='all',
  moving_average=0.999,
  optimizer=adadelta,
  batch_size=45,
  epochs=24,
  patience=null,
)
  local gru = { type: 'bidirectional_gru', hidden_size: hidden };
  local layer = task.feedforward(1, 2 * hidden);
  task.data(data, train, dev, test)
  + task.training(['paragraph', 'question'], batch_size, 1.0, epochs, patience, metric='+f1')
  + task.readers(
    { type: 'squad_v1', max_paragraph_words: max_paragraph_words, answers_required: true },
    reader,
    validation_reader,
    validating={ max_paragraph_words: null, answers_required: false },
  )
  + {
    model: {
      type: 'squad_bidaf_self_attention',
      contextual_encoder: { dropout: dropout, encoder: gru },
      attention_projection: layer,
      [if self_attention then 'self_attention_encoder']: gru,
      [if self_attention then 'self_attention_projection']: layer,
      start_encoder: gru,
      end_encoder: gru,
      dropout: dropout,
      max_answer_words: max_answer_words,
      word_in_question: word_in_question,
      train_on: train_on,
    },
    trainer+: optimizer {
      [if moving_average != null then 'moving_average']: { type: 'ema', decay: moving_average },
    },
  }
  + words
  + task.character_cnn(characters.dim, characters.num_filters, characters.widths, dropout)
