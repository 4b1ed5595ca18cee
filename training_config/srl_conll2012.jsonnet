// The semantic role labeller of Peters et al. (2018) on OntoNotes as CoNLL-2012 has it, with the paper's sizes.
//
// Paper:     the deep LSTM of He et al. (2017): GloVe vectors of 100 dimensions that are trained further, a vector of
//            100 for whether a word is the predicate, 8 interleaved LSTM layers of 300 cells with highway connections,
//            orthogonal weights and recurrent dropout of 0.1; ELMo at the input; Adadelta (rho 0.95, eps 1e-6), the
//            values of gradients clipped at 1, batches of 80, at most 500 epochs, patience 200.
// Here:      the same. Chosen here, as the paper does not report them: lambda = 0.001 and dropout of 0.5 on ELMo,
//            lower-case words.
// Expected:  the paper's 84.6 F1 on the test set (81.4 without ELMo); not run yet with this code.
// Hardware:  one GPU, because of the biLM of 2 x 4096 cells.
//
// CONLL2012:    the folder of train, development and test, in which all files whose names end in gold_conll count.
// WORD_VECTORS: GloVe's glove.6B.100d.txt.
local elmo = import 'lib/elmo.libsonnet';
local srl = import 'lib/srl.libsonnet';
local words = import 'lib/words.libsonnet';

srl(
  data=std.extVar('CONLL2012'),
  train='train',
  dev='development',
  test='test',
  words=words.glove(std.extVar('WORD_VECTORS'), dim=100, trainable=true, lowercase=true),
) + elmo.at(['input'], bilm='original', dropout=0.5, lambda=0.001)
