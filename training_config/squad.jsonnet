// The question answering model of Peters et al. (2018) on SQuAD 1.1, with the paper's sizes.
//
// Paper:     BiDAF with self-attention of Clark and Gardner (2018): GloVe vectors of 300 dimensions, characters of 20
//            with 100 filters of 5, GRUs of 90 cells a direction, linear ReLU layers of 180, variational dropout of
//            0.2; ELMo at the input and the output of the first GRU; Adadelta with a learning rate of 1, batches of
//            45 of similar length, a moving average of the weights with a decay of 0.999, answers of at most 17 words.
// Here:      the same. Chosen here, as the paper does not report them: lambda = 0.001 and dropout of 0.5 on ELMo, the
//            number of epochs, and to train on all answers of a question together.
// Expected:  the paper's 85.8 F1 on the test set, 85.6 on dev (81.1 and 80.8 without ELMo); not run yet with this
//            code.
// Hardware:  one GPU, because of the biLM of 2 x 4096 cells.
//
// SQUAD:        the folder of train-v1.1.json and dev-v1.1.json.
// WORD_VECTORS: GloVe's glove.840B.300d.txt.
local elmo = import 'lib/elmo.libsonnet';
local squad = import 'lib/squad.libsonnet';
local words = import 'lib/words.libsonnet';

squad(
  data=std.extVar('SQUAD'),
  train='train-v1.1.json',
  dev='dev-v1.1.json',
  words=words.glove(std.extVar('WORD_VECTORS'), dim=300),
) + elmo.at(['input', 'output'], bilm='original', dropout=0.5, lambda=0.001)
