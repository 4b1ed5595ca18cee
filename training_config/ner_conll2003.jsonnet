// The named entity tagger of Peters et al. (2018) on CoNLL-2003, with the paper's sizes.
//
// Paper:     supplement A.7: Senna vectors of 50 dimensions, trained further, and a character CNN (16 dimensions, 128
//            filters of width 3, ReLU); biLSTM layers of 200 and 100 cells with variational dropout on the input of both;
//            a CRF; ELMo at the input with lambda = 0.1; Adam at 0.001, gradients clipped at norm 5; stopped by dev F1.
// Here:      the same, except: the biLM is not fine-tuned on CoNLL-2003's text, as bilm_finetune.jsonnet would do (the
//            paper's perplexity goes from 103.2 to 46.3). What the paper does not report is taken from allennlp's training_config/ner_elmo.jsonnet
//            (10e5b21): dropout of 0.5 on the LSTMs' inputs and none of ELMo's own, batches of 64, at most 75 epochs,
//            patience 25, BIOUL tags. Here the CRF also scores the first and the last tag. docs/paper_configs.md has
//            every number with its source.
// Expected:  the paper's 92.22 +- 0.10 F1 on the test set (90.15 without ELMo); not run yet.
// Hardware:  one GPU, because of the biLM of 2 x 4096 cells. On one CPU core, a training step on the example data of this
//            repository (64 sentences of up to 28 words) took 5 s of processor time, and 1.9 GB at most.
//
// CONLL2003:    the folder of eng.train, eng.testa and eng.testb (IOB1, as published).
// WORD_VECTORS: a text file with a lower-case word and its 50 numbers on each line: GloVe's
//               glove.6B.50d.txt, or Senna's by `paste -d ' ' hash/words.lst embeddings/embeddings.txt`.
local elmo = import '../elmo_plugin/jsonnet/elmo.libsonnet';
local ner = import '../elmo_plugin/jsonnet/ner.libsonnet';
local words = import '../elmo_plugin/jsonnet/words.libsonnet';

ner(
  data=std.extVar('CONLL2003'),
  train='eng.train',
  dev='eng.testa',
  test='eng.testb',
  source_encoding='IOB1',
  reader={ tag_column: 3 },
  words=words.glove(std.extVar('WORD_VECTORS'), dim=50, trainable=true, lowercase=true),
) + elmo.at(['input'], bilm='original', dropout=0, lambda=0.1)
