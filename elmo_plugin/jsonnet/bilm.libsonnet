// Configurations that train a biLM: how much text from where, its sizes, and how it learns.
//
//     bilm.train(bilm.sizes.tiny, epochs=4, negatives=2048) + bilm.adamw(rate=0.005)

// The options of the vocabulary that a path names, or that are given: a file of bilm-tf, an archive that
// `allennlp build-vocab` wrote, or anything that AllenNLP takes.
local vocabulary_options(vocabulary) =
  local is_path = std.isString(vocabulary);
  local path = if is_path then vocabulary else std.get(vocabulary, 'directory', '');
  local is_text = std.endsWith(path, '.txt') || std.endsWith(path, '.txt.gz');
  local is_archive = std.endsWith(path, '.tar.gz');
  if is_path && is_archive then { type: 'from_files', directory: path }
  else if is_path || is_text then { type: 'bilm_tf', file: path }
  else vocabulary;

local published_filters = [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256], [6, 512], [7, 1024]];
{
  // The sizes of a biLM.
  //
  // projection:     the numbers in a word's vector, in each direction; `cells`: of each LSTM, about four times as many.
  // filters:        the character CNN's, as [width in bytes, number]; in all at least as many as `projection`, which
  //                 other implementations need.
  // max_characters: the longest word in bytes, plus 2 for its marks; the rest of a longer word is not read.
  size(
    projection,
    cells=4 * projection,
    filters=[[1, 16], [2, 32], [3, 64], [4, 64]],
    highway_layers=1,
    layers=2,
    max_characters=50
  ):: {
    lstm: {
      projection_dim: projection,
      dim: cells,
      n_layers: layers,
      use_skip_connections: true,
      cell_clip: 3,
      proj_clip: 3,
    },
    char_cnn: {
      filters: filters,
      embedding: { dim: 16 },
      n_highway: highway_layers,
      activation: 'relu',
      max_characters_per_token: max_characters,
      n_characters: 262,
    },
  },

  // Sizes by the words of training text; docs/train_a_bilm.md has the table. `small`, `medium` and `original` are the
  // published ones.
  sizes: {
    micro: $.size(32),  // up to 0.15 million words
    mini: $.size(64),  // up to 2 million words
    tiny: $.size(128, 512, [[1, 32], [2, 32], [3, 64], [4, 128], [5, 128]]),
    base: $.size(256, 704, [[1, 32], [2, 32], [3, 64], [4, 128], [5, 256]]),
    small: $.size(128, 1024, published_filters),
    medium: $.size(256, 2048, published_filters),
    original: $.size(512, 4096, published_filters, highway_layers=2),
  },

  // A biLM of these sizes from random weights.
  //
  // data, validation: UTF-8 text, one tokenized sentence per line: a file or a pattern of files, compressed or not.
  // vocabulary:       the words to be predicted, as in any configuration of AllenNLP; the biLM itself reads characters.
  //                   What `allennlp build-vocab` writes is named by its path, and so is a file of bilm-tf.
  // negatives:        the number of words that each target is scored against, at most a third of the vocabulary; null
  //                   for all, the full softmax.
  // precision:        of matrix products in training, 'float32' or 'bfloat16'.
  // batch_size:       the number of streams of text; unroll_steps: the words of each in a batch.
  train(
    sizes,
    data,
    validation,
    vocabulary,
    epochs,
    negatives=null,
    dropout=0.1,
    precision='float32',
    batch_size=128,
    unroll_steps=20
  ):: {
    dataset_reader: { type: 'bilm_text' },
    train_data_path: data,
    validation_data_path: validation,
    datasets_for_vocab_creation: ['train'],
    vocabulary: vocabulary_options(vocabulary),
    data_loader: {
      type: 'bilm_stream',
      batch_size: batch_size,
      unroll_steps: unroll_steps,
      num_workers: 1,
      [if sizes != null then 'max_characters_per_token']: sizes.char_cnn.max_characters_per_token,
    },
    validation_data_loader: self.data_loader { shuffle: false },
    model: {
      type: 'bilm',
      options: sizes,
      dropout: dropout,
      num_negatives: negatives,
      precision: precision,
    },
    trainer: {
      type: 'bilm',
      num_epochs: epochs,
      validation_metric: '-perplexity',
      checkpointer: { type: 'atomic', save_every_num_batches: 1250, keep_most_recent_by_count: 2 },
      callbacks: [{ type: 'matmul_precision', precision: 'medium' }, { type: 'bilm_progress' }],
      enable_default_callbacks: false,  // AllenNLP's table of each epoch: `bilm_progress` has a line
      run_confidence_checks: false,
    },
    random_seed: 13370,
    numpy_seed: 1337,
    pytorch_seed: 133,
  },

  // How the published models learned: Adagrad on the loss times the number of time steps.
  paper_adagrad: {
    local config = self,
    model+: { loss_scale: config.data_loader.unroll_steps },
    trainer+: {
      optimizer: { type: 'adagrad', lr: 0.2, initial_accumulator_value: 1.0 },
      grad_norm: 10.0,
    },
  },

  // What gets further in the same time: AdamW, whose rate rises to `rate` in `warm_up_steps` steps and then
  // falls in a straight line to `end_rate`.
  adamw(rate, warm_up_steps=500, end_rate=rate / 100):: {
    trainer+: {
      optimizer: {
        type: 'adamw',
        lr: rate,
        betas: [0.9, 0.98],
        weight_decay: 0.01,
        // torch's faster implementation, for all parameters: AllenNLP passes it on in this form alone.
        parameter_groups: [[['.*'], { fused: true }]],
      },
      grad_norm: 1.0,
      // The last rate is above zero, as a pass has a few batches more than its announced length.
      learning_rate_scheduler: {
        type: 'polynomial_decay',
        warmup_steps: warm_up_steps,
        power: 1.0,
        end_learning_rate: end_rate,
      },
    },
  },

  // Validates and saves the exponential moving average of the weights, of about the last 1 / (1 - decay) steps, in
  // which the noise of single steps is averaged out. Training itself is not affected.
  ema(decay):: {
    trainer+: { moving_average: { type: 'ema', decay: decay } },
  },

  // Goes on from a biLM instead of random weights.
  //
  // initial:         a name, an archive, a directory or a pair of files (see docs/train_a_bilm.md).
  // warm_up_batches: the number of first batches in which only the softmax learns: what a new softmax needs.
  initialized_from(initial, warm_up_batches=0):: {
    model+: { options:: null, initial: initial, warm_up_batches: warm_up_batches },
  },
}
