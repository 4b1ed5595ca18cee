// A small biLM, of the size that is bundled with the package as `tiny`.
//
// Paper:     2 x 4096 cells, 512 dimensions, 2048 filters, 2 highway layers; 10 epochs of the 1 Billion Word
//            Benchmark; Adagrad at 0.2, 8192 negatives, dropout 0.1; average perplexity 39.7.
// Here:      2 x 512 cells, 64 dimensions, 384 filters, 1 highway layer, so that the weights take under 6 MB
//            and a laptop can train them; Adam, which needs fewer steps; fewer negatives, as the vocabulary is
//            26 times smaller; no dropout, as so small a model does not over-fit in three epochs.
// Expected:  see elmo_plugin/bilm/models/tiny/README.md, for 8 million words of mixed English prose.
// Hardware:  two CPU cores, about an hour.
//
// BILM_TRAIN_DATA_PATH and BILM_VALIDATION_DATA_PATH: UTF-8 text, one tokenised sentence a line; a file or
// a quoted pattern of files, gzipped or not.

local epochs = 3;

{
  dataset_reader: { type: 'bilm_text' },
  train_data_path: std.extVar('BILM_TRAIN_DATA_PATH'),
  validation_data_path: std.extVar('BILM_VALIDATION_DATA_PATH'),
  datasets_for_vocab_creation: ['train'],
  vocabulary: { max_vocab_size: { words: 30000 } },
  data_loader: { type: 'bilm_stream', batch_size: 128, unroll_steps: 20 },
  validation_data_loader: { type: 'bilm_stream', batch_size: 128, unroll_steps: 20, shuffle: false },
  model: {
    type: 'bilm',
    options: {
      lstm: {
        projection_dim: 64,
        dim: 512,
        n_layers: 2,
        use_skip_connections: true,
        cell_clip: 3,
        proj_clip: 3,
      },
      char_cnn: {
        filters: [[1, 32], [2, 32], [3, 64], [4, 128], [5, 128]],
        embedding: { dim: 16 },
        n_highway: 1,
        activation: 'relu',
        max_characters_per_token: 50,
        n_characters: 262,
      },
    },
    dropout: 0.0,
    num_negatives: 1024,
  },
  trainer: {
    num_epochs: epochs,
    optimizer: { type: 'adam', lr: 0.003 },
    // The last rate is above zero, as a pass has a few batches more than its announced length.
    learning_rate_scheduler: {
      type: 'polynomial_decay',
      warmup_steps: 500,
      power: 1.0,
      end_learning_rate: 0.00003,
    },
    grad_norm: 1.0,
    callbacks: [{ type: 'matmul_precision', precision: 'medium' }],
    validation_metric: '-perplexity',
    checkpointer: { save_every_num_seconds: 600, keep_most_recent_by_count: 2 },
  },
  random_seed: 13370,
  numpy_seed: 1337,
  pytorch_seed: 133,
}
