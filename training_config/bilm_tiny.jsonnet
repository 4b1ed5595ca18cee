// A small biLM, the one that is bundled with the package as `tiny`.
//
// Paper:     2 x 4096 cells, 512 dimensions, 2048 filters, 2 highway layers; 10 epochs of the 1 Billion Word
//            Benchmark; Adagrad at 0.2, 8192 negatives, dropout 0.1; average perplexity 39.7.
// Here:      2 x 512 cells, 128 dimensions, 384 filters, 1 highway layer, so that the weights take under 6 MB
//            and a laptop can train them; AdamW, which gets further in the same time; fewer negatives, as the
//            vocabulary is 26 times smaller; no dropout, as so small a model does not over-fit in four epochs;
//            products in bfloat16, which the processor does twice as fast.
// Expected:  see elmo_plugin/models/bilm/tiny/README.md, for 8 million words of mixed English prose.
// Hardware:  one CPU core, about an hour.
//
// BILM_TRAIN_DATA_PATH and BILM_VALIDATION_DATA_PATH: UTF-8 text, one tokenized sentence per line; a file or
// a quoted pattern of files, plain or compressed (.gz, .zst).

local bilm = import '../elmo_plugin/jsonnet/bilm.libsonnet';

bilm.train(
  bilm.sizes.tiny,
  data=std.extVar('BILM_TRAIN_DATA_PATH'),
  validation=std.extVar('BILM_VALIDATION_DATA_PATH'),
  vocabulary={ max_vocab_size: { words: 30000 } },
  epochs=4,
  negatives=2048,
  dropout=0.0,
  precision='bfloat16',
)
+ bilm.adamw(rate=0.005)
