// The coreference model of Peters et al. (2018) on OntoNotes as CoNLL-2012 has it, with the paper's sizes.
//
// Paper:     supplement A.6, and Lee et al. (2017), section 7.1, with the code that they released (e2e-coref, 71a175e):
//            GloVe vectors of 300 dimensions and Turian's of 50, both fixed, characters of 8 dimensions with filters of
//            3, 4 and 5 characters, an LSTM of 200 cells a direction over each sentence, spans of at most 10 words,
//            feed-forward layers of 2 x 150, at most 250 antecedents; dropout of 0.5 on embedded words, and of 0.2 on
//            the LSTM's hidden state (in its recurrence, variational) and output, on hidden layers, and on the features
//            of each span and each pair; ELMo at the input with dropout of 0.5, no penalty and no layer norm; Adam with
//            0.001 times 0.999 each 100 steps, gradients clipped to a norm of 5, one document of at most 50 sentences a
//            step, at most 150 epochs.
// Here:      the same, except: no vectors of Turian, which are no longer available, and GloVe's are not scaled to length 1
//            and random for words without one. The LSTM has a separate input gate, starts with torch's initial weights and
//            from zeros; theirs couples it to the forget gate and learns its first state. All other layers and vectors
//            start as torch's do, theirs uniform as Glorot's. The biLM is as published, as the paper's seems to be: it gives
//            no perplexity of one fine-tuned on CoNLL-2012. ELMo has its own dropout and then
//            that of embedded words. Patience is that of allennlp's training_config/coref.jsonnet: the paper does not give
//            its rule for early stopping. docs/paper_configs.md has every number with its source.
// Expected:  the paper's 70.4 average F1 on the test set (67.2 without ELMo); not run yet.
// Hardware:  one GPU, because of the biLM of 2 x 4096 cells. On one CPU core, a training step on the example data of this
//            repository (48 sentences of a document) took 12 s of processor time, and 2.7 GB at most.
//
// CONLL2012:    the folder of train, development and test, in which all files whose names end in gold_conll count.
// WORD_VECTORS: GloVe's glove.840B.300d.txt.
local coref = import '../elmo_plugin/jsonnet/coref.libsonnet';
local elmo = import '../elmo_plugin/jsonnet/elmo.libsonnet';
local words = import '../elmo_plugin/jsonnet/words.libsonnet';

coref(
  data=std.extVar('CONLL2012'),
  train='train',
  dev='development',
  test='test',
  words=words.glove(std.extVar('WORD_VECTORS'), dim=300),
) + elmo.at(['input'], bilm='original', dropout=0.5)
