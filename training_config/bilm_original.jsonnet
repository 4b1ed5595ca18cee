// The biLM of the paper, trained as the paper's was.
//
// Paper:     2 x 4096 cells, 512 dimensions, 2048 filters, 2 highway layers; 10 epochs of the 1 Billion Word
//            Benchmark (768,648,884 tokens, 793,471 words); Adagrad at 0.2 on 20 times the loss, gradients
//            clipped to a norm of 10, 8192 negatives, dropout 0.1; 3 GPUs with 128 streams of 20 words each;
//            average perplexity 39.7.
// Here:      the same, except: bilm-tf draws negatives for each direction and each GPU; here one sample serves both
//            directions and all GPUs. bilm-tf carries the LSTMs' state from one pass over the text into the next;
//            here each epoch starts from zeros. Factors of matrix products are rounded as torch's precision `medium`
//            allows (TF32 or bfloat16); without the callback `matmul_precision` they are float32.
//            `-o '{"model": {"precision": "bfloat16"}}'` is faster and deviates further.
// Expected:  average perplexity 39.7; never run here.
// Hardware:  the paper's three GPUs of 2016 took two weeks. With three GPUs:
//            `-o '{"distributed": {"cuda_devices": [0, 1, 2]}}'`; with one, batches of 384 streams are the same:
//            `-o '{"data_loader": {"batch_size": 384}}'`.
//
// BILM_TRAIN_DATA_PATH, BILM_VALIDATION_DATA_PATH: UTF-8 text, one tokenized sentence per line; a file or a quoted
// pattern of files, plain or compressed (.gz, .zst). BILM_VOCABULARY: written by `allennlp build-vocab`.

local bilm = import '../elmo_plugin/jsonnet/bilm.libsonnet';

bilm.train(
  bilm.sizes.original,
  data=std.extVar('BILM_TRAIN_DATA_PATH'),
  validation=std.extVar('BILM_VALIDATION_DATA_PATH'),
  vocabulary={ type: 'from_files', directory: std.extVar('BILM_VOCABULARY') },
  epochs=10,
  negatives=8192,
)
+ bilm.paper_adagrad
