// The semantic role labeller of Peters et al. (2018) on OntoNotes as CoNLL-2012 has it, with the paper's sizes.
//
// Paper:     supplement A.5: the deep LSTM of He et al. (2017): GloVe vectors of 100 dimensions that are trained
//            further, a vector of 100 for whether a word is the predicate, 8 interleaved LSTM layers of 300 cells with
//            highway connections, dropout of 0.1 on their hidden states (He et al., equation 13), LSTMs and the last
//            layer orthogonal at first, forget gates with a bias of 1; ELMo at the input; Adadelta (1, rho 0.95), the
//            values of gradients clipped at 1, at most 500 epochs, patience 200. Table 2: lambda = 0.001.
// Here:      the same, except: each word without a GloVe vector has a random one of its own, where He et al.'s share one,
//            the vectors of whether a word is the predicate start normal, and training includes sentences of more than
//            100 words. The biLM is as published, as the paper's seems to be: it gives no perplexity of one fine-tuned on
//            CoNLL-2012. What the paper does not report is taken from He et al.'s code (deep_srl, 1428b1a): lower-case
//            words, eps 1e-6, batches of 80; and from allennlp's training_config/semantic_role_labeler_elmo.jsonnet
//            (1f8d1de): dropout of 0.1 on ELMo, and the mean loss over a sentence's words, where He et al. sum.
//            docs/paper_configs.md has every number with its source.
// Expected:  the paper's 84.6 F1 on the test set (81.4 without ELMo); not run yet.
// Hardware:  one GPU, because of the biLM of 2 x 4096 cells. On one CPU core, a training step on the example data of this
//            repository (80 predicates in sentences of up to 37 words) took 6 s of processor time, and 2.2 GB at most.
//
// CONLL2012:    the folder of train, development and test, in which all files whose names end in gold_conll count.
// WORD_VECTORS: GloVe's glove.6B.100d.txt.
local elmo = import '../elmo_plugin/jsonnet/elmo.libsonnet';
local srl = import '../elmo_plugin/jsonnet/srl.libsonnet';
local words = import '../elmo_plugin/jsonnet/words.libsonnet';

srl(
  data=std.extVar('CONLL2012'),
  train='train',
  dev='development',
  test='test',
  words=words.glove(std.extVar('WORD_VECTORS'), dim=100, trainable=true, lowercase=true),
) + elmo.at(['input'], bilm='original', dropout=0.1, lambda=0.001)
