// The biLM that is bundled with the package as `base`; bilm_base.sh trains it.
//
// Paper:     2 x 4096 cells, 512 dimensions, 2048 filters, 2 highway layers; 10 epochs of the 1 Billion Word
//            Benchmark; Adagrad at 0.2, 8192 negatives, dropout 0.1; average perplexity 39.7.
// Here:      2 x 704 cells, 256 dimensions, 512 filters, 1 highway layer, so that the weights take under 16 MB and
//            embedding is more than half as fast as with `tiny`; one pass over 40 million words, so no dropout; AdamW,
//            which gets further in the same time; half as many negatives, which cost a tenth of the time; the moving
//            average of the weights; products in bfloat16, which the processor does twice as fast. It predicts the
//            words of `tiny`, so that the perplexities of the two compare. bilm_continued.jsonnet goes on from it.
// Expected:  see elmo_plugin/models/bilm/base/README.md.
// Hardware:  two cores of a Xeon with AMX, less than two hours; 2.4 GB of memory.
//
// BILM_TRAIN_DATA_PATH and BILM_VALIDATION_DATA_PATH: UTF-8 text, one tokenized sentence per line; a file or
// a quoted pattern of files, plain or compressed (.gz, .zst). BILM_VOCABULARY: written by `allennlp build-vocab`.

local bilm = import '../elmo_plugin/jsonnet/bilm.libsonnet';

bilm.train(
  bilm.sizes.base,
  data=std.extVar('BILM_TRAIN_DATA_PATH'),
  validation=std.extVar('BILM_VALIDATION_DATA_PATH'),
  vocabulary={ type: 'from_files', directory: std.extVar('BILM_VOCABULARY') },
  epochs=1,
  negatives=4096,
  dropout=0.0,
  precision='bfloat16',
)
+ bilm.adamw(rate=0.003, warm_up_steps=1000)
+ bilm.ema(0.9995)
// Every few minutes: the training is long, and runs next to other work.
+ { trainer+: { checkpointer+: { save_every_num_batches: 500 } } }
