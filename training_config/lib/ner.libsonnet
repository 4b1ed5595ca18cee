// The named entity tagger of Peters et al. (2018), without ELMo: word vectors and a character CNN, two biLSTM
// layers with variational dropout, a CRF. All sizes are the paper's; those that it does not report are marked.
//
//     ner(data='experiments/data/ner')
//
// data:            the folder of `train`, `dev` and, if there is one, `test`, in the columns of CoNLL-2003.
// source_encoding: of the tags in these files, 'BIO', 'IOB1' or 'BIOUL'.
// words:           the word vectors, from words.libsonnet.
// epochs:          at most; `patience` is the number of epochs that may pass without a better F1 on `dev`.
local task = import 'task.libsonnet';
local words_lib = import 'words.libsonnet';

function(
  data,
  train='train.txt',
  dev='dev.txt',
  test=null,
  source_encoding='BIO',
  words=words_lib.learned(dim=50),
  dropout=0.3,  // not reported
  batch_size=16,  // not reported
  epochs=75,  // not reported
  patience=10,  // not reported
)
  local tag_encoding = 'BIOUL';

  task.data(data, train, dev, test)
  + task.training(['tokens'], batch_size, 0.001, epochs, patience, metric='+f1-measure-overall')
  + {
    dataset_reader: { type: 'ner_conll2003', source_encoding: source_encoding, tag_encoding: tag_encoding },
    model: {
      type: 'ner_bilstm_crf',
      tag_encoding: tag_encoding,
      contextual_encoder: { encoder: task.bilstm([200, 100], dropout) },
    },
  }
  + task.character_cnn(dim=16, num_filters=128, widths=[3])
  + words
