// The named entity tagger of Peters et al. (2018), without ELMo: word vectors and a character CNN, two biLSTM
// layers with variational dropout, a CRF. All numbers are the paper's (supplement A.7); those that it does not report are
// marked, and those of allennlp are its training_config/ner_elmo.jsonnet's. docs/paper_configs.md compares them.
//
//     ner(data='experiments/data/ner')
//
// data:            the folder of `train`, `dev` and optionally `test`, with a word and its tag in each line, as
//                  `elmo import ner` writes them.
// source_encoding: of the tags in these files: 'BIO', 'IOB1', 'BIOUL', 'BIOES' or 'BMES'; or 'plain'.
// reader, validation_reader: options of the dataset readers, such as `{ tag_column: 3 }` for CoNLL-2003 as published, or
//                  others with their `type`; see task.libsonnet.
// metric:          that chooses the best epoch: '+accuracy' for tags that mark no entities, such as parts of speech.
// words:           the word vectors, from words.libsonnet.
// epochs:          at most; `patience` is the number of epochs without a better `metric` on `dev`.
local task = import 'task.libsonnet';
local words_lib = import 'words.libsonnet';

function(
  data,
  train='train.txt',
  dev='dev.txt',
  test=null,
  source_encoding='BIO',
  reader={},
  validation_reader={},
  words=words_lib.learned(dim=50),
  dropout=0.5,  // allennlp
  batch_size=64,  // allennlp
  epochs=75,  // allennlp
  patience=25,  // allennlp
  metric='+f1-measure-overall',
)
  local tag_encoding = 'BIOUL';

  task.data(data, train, dev, test)
  + task.training(['tokens'], batch_size, 0.001, epochs, patience, metric)
  + task.readers(
    { type: 'ner_conll2003', source_encoding: source_encoding, tag_encoding: tag_encoding },
    reader,
    validation_reader,
  )
  + {
    model: {
      type: 'ner_bilstm_crf',
      tag_encoding: if std.length(std.findSubstr('f1-', metric)) > 0 then tag_encoding,
      contextual_encoder: { encoder: task.bilstm([200, 100], dropout) },
    },
  }
  + task.character_cnn(dim=16, num_filters=128, widths=[3])
  + words
