// Sentiment with the biattentive classification network and ELMo of Peters et al. (2018) on the Stanford Sentiment
// Treebank with five classes, with the paper's sizes.
//
// Paper:     the network of McCann et al. (2017), with two ReLU layers with dropout in place of the maxout layers;
//            GloVe vectors of 300 dimensions that are not trained, LSTMs and layers of 300; ELMo before and after
//            the lowest LSTM, with lambda = 0.001; Adam at 0.0001; training has all phrases of four tokens or more.
// Here:      the same; ELMo after the LSTM is concatenated with its output, before the biattention (allennlp-models
//            has it after the integrator). Chosen here, as the paper does not report them: ReLU layers of 300 after
//            the pooling, dropout of 0.2 everywhere and 0.5 on ELMo, no layer norm, batches of 32, gradients clipped
//            at norm 5, at most 40 epochs, patience 5.
// Expected:  the paper's 54.7 +- 0.5 % on the test set (51.4 without ELMo); not run yet with this code.
// Hardware:  one GPU, because of the biLM of 2 x 4096 cells.
//
// SST:          the folder of train.txt, dev.txt and test.txt, trees as published.
// WORD_VECTORS: GloVe's glove.840B.300d.txt.
local elmo = import 'lib/elmo.libsonnet';
local sst = import 'lib/sst.libsonnet';
local words = import 'lib/words.libsonnet';

sst(data=std.extVar('SST'), test='test.txt', words=words.glove(std.extVar('WORD_VECTORS')))
+ elmo.at(['input', 'output'], bilm='original', dropout=0.5, lambda=0.001)
