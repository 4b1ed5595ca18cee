// The biLM that is to be bundled with the package as `base`: its first training. bilm_base.sh has all of them.
//
// Paper:     2 x 4096 cells, 512 dimensions, 2048 filters, 2 highway layers; 10 epochs of the 1 Billion Word
//            Benchmark; Adagrad at 0.2, 8192 negatives, dropout 0.1; average perplexity 39.7.
// Here:      2 x 704 cells, 256 dimensions, 512 filters, 1 highway layer, so that the weights take under 16 MB and
//            embedding is more than half as fast as with `tiny`; three epochs of 58.7 million words; AdamW, which
//            gets further in the same time; no dropout, as in the first training of `tiny`; the moving average of the
//            weights; products in bfloat16, which the processor does twice as fast. It predicts the words of `tiny`,
//            so that the perplexities of the two compare.
// Expected:  perplexity below 83.3, that of `tiny`, on the same held-out text; not trained to the end yet.
// Hardware:  one core of a Xeon with AMX, 13 hours (3,700 words per second and direction); two cores, 9 hours.
//
// BILM_TRAIN_DATA_PATH and BILM_VALIDATION_DATA_PATH: UTF-8 text, one tokenized sentence per line; a file or
// a quoted pattern of files, plain or compressed (.gz, .zst). BILM_VOCABULARY: written by `allennlp elmo-vocab`.

local bilm = import '../elmo_plugin/jsonnet/bilm.libsonnet';

bilm.train(
  bilm.sizes.base,
  data=std.extVar('BILM_TRAIN_DATA_PATH'),
  validation=std.extVar('BILM_VALIDATION_DATA_PATH'),
  vocabulary={ type: 'from_files', directory: std.extVar('BILM_VOCABULARY') },
  epochs=3,
  negatives=8192,
  dropout=0.0,
  precision='bfloat16',
)
+ bilm.adamw(rate=0.003, warm_up_steps=1000)
+ bilm.ema(0.9995)
// Every few minutes: the training is long, and runs next to other work.
+ { trainer+: { checkpointer+: { save_every_num_batches: 500 } } }
