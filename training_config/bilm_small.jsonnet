// A biLM of the size of the published `small` model.
//
// Paper:     2 x 1024 cells, 128 dimensions, 2048 filters, 1 highway layer: a published model without a reported
//            recipe or perplexity; those of the original are in bilm_original.jsonnet.
// Here:      the same sizes; dropout, negatives, batches and epochs of the original; AdamW, which gets further
//            in the same time; matrix products in bfloat16.
// Expected:  never trained to the end here. On the 1 Billion Word Benchmark expect an average perplexity between that
//            of the original (39.7) and about 60.
// Hardware:  one GPU. On two CPU cores about 4,400 tokens/s (benchmarks/README.md): two days for 770 million tokens
//            on 8 such machines, or 8 million tokens in half an hour.
//
// BILM_TRAIN_DATA_PATH, BILM_VALIDATION_DATA_PATH: UTF-8 text, one tokenized sentence per line; a file or a quoted
// pattern of files, plain or compressed (.gz, .zst). BILM_VOCABULARY: written by `allennlp build-vocab`.

local bilm = import '../elmo_plugin/jsonnet/bilm.libsonnet';

bilm.train(
  bilm.sizes.small,
  data=std.extVar('BILM_TRAIN_DATA_PATH'),
  validation=std.extVar('BILM_VALIDATION_DATA_PATH'),
  vocabulary={ type: 'from_files', directory: std.extVar('BILM_VOCABULARY') },
  epochs=10,
  negatives=8192,
  precision='bfloat16',
)
+ bilm.adamw(rate=0.001)
