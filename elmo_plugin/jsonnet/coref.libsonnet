// The coreference model of Peters et al. (2018), without ELMo: the span ranking of Lee et al. (2017). All numbers are
// those of that paper (section 7.1) and of the code that its authors released, e2e-coref; what neither reports is marked.
// docs/paper_configs.md compares them.
//
//     coref(data='experiments/data/coref')
//
// data:             the folder of `train`, `dev` and optionally `test`, each a file or a folder of files.
// genre_pattern:    a regex whose first group is the genre in a document's name; if it is not given, the genre is what
//                   comes before the first '/'.
// reader, validation_reader: options of the dataset readers, or others with their `type`; see task.libsonnet.
// words:            the word vectors, from words.libsonnet.
// characters:       the numbers for each character, the filters of each width, and the widths.
// hidden:           the cells of the LSTM in each direction, of one layer, which reads one sentence at a time.
// max_span_width:   the words of the longest spans.
// spans_per_word:   how many spans are kept as mentions for each word.
// max_antecedents:  how many of the nearest preceding ones are scored as a mention's antecedents.
// feedforward:      the size of both layers that score mentions, and of those that score antecedents.
// lexical_dropout:  of embedded words; `dropout` is that in the LSTM's recurrence (variational), of its output, of hidden
//                   layers, and of the features of each span and of each pair.
// max_training_sentences: of a document, in a random window, drawn again in each epoch.
// use_speakers, use_genre, may_cross: other features of a pair of spans, and whether mentions may cross.
// epochs:           at most; `patience` is the number of epochs without a better F1 on `dev`.
local task = import 'task.libsonnet';
local words_lib = import 'words.libsonnet';

function(
  data,
  train='train.gold_conll',
  dev='dev.gold_conll',
  test=null,
  genre_pattern=null,
  reader={},
  validation_reader={},
  words=words_lib.learned(dim=100),
  characters={ dim: 8, num_filters: 50, widths: [3, 4, 5] },
  hidden=200,
  max_span_width=10,
  spans_per_word=0.4,
  max_antecedents=250,
  feedforward=150,
  feature_dim=20,
  lexical_dropout=0.5,
  dropout=0.2,
  max_training_sentences=50,
  use_speakers=true,
  use_genre=true,
  may_cross=false,
  learning_rate=0.001,
  epochs=150,
  patience=10,  // allennlp's training_config/coref.jsonnet
)
  task.data(data, train, dev, test)
  + task.training(['sentences'], 1, learning_rate, epochs, patience, metric='+coref_f1')
  + task.readers(
    {
      type: 'coref_conll2012',
      [if genre_pattern != null then 'genre_pattern']: genre_pattern,
    },
    reader,
    validation_reader,
  )
  + {
    model: {
      type: 'coref_span_ranking',
      contextual_encoder: {
        encoder: task.bilstm([hidden], recurrent_dropout=dropout),
        dropout: lexical_dropout,
        variational_dropout: false,
      },
      max_span_width: max_span_width,
      spans_per_word: spans_per_word,
      max_antecedents: max_antecedents,
      hidden_dim: feedforward,
      feature_dim: feature_dim,
      dropout: dropout,
      max_training_sentences: max_training_sentences,
      use_speakers: use_speakers,
      use_genre: use_genre,
      may_cross: may_cross,
    },
    // One document at a time, so that nothing is padded to the length of another.
    data_loader: { batch_size: 1, shuffle: true },
    trainer+: {
      learning_rate_scheduler: { type: 'decay_in_steps', factor: 0.999, num_batches: 100 },
    },
  }
  + words
  + task.character_cnn(characters.dim, characters.num_filters, characters.widths)
