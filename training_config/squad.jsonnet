// The question answering model of Peters et al. (2018) on SQuAD 1.1, with the paper's sizes.
//
// Paper:     supplement A.4, and the code that the authors released (document-qa, docqa/elmo/ablate_elmo_model.py,
//            6e667c4): BiDAF with self-attention of Clark and Gardner (2018): GloVe vectors of 300 dimensions that are
//            not trained, characters of 20 with 100 filters of 5 and dropout of 0.2, GRUs of 90 cells a direction, ReLU
//            layers of 180, self-attention that can attend to nothing, variational dropout of 0.2; ELMo at the input
//            and the output of the first GRU, with dropout of 0.5 and no penalty; Adadelta with a learning rate of 1,
//            batches of 45 of similar length, a moving average of the weights with a decay of 0.999, 24 epochs, answers
//            of at most 17 words. The biLM was fine-tuned on SQuAD.
// Here:      the same, except: ELMo at the output also has the dropout of the GRU's output. Words have all of their
//            characters (there the first 14), and every character has a vector (there those that occur at least 49
//            times). Layers start with torch's initial weights, words without a GloVe vector
//            with a random one, which is fixed. The best epoch counts (there the best of every 1,200
//            steps). The biLM is not fine-tuned on SQuAD's text, as bilm_finetune.jsonnet would do.
//            docs/paper_configs.md has every number with its source.
// Expected:  the paper's 85.8 F1 on the test set, 85.6 on dev (81.1 and 80.8 without ELMo); not run yet.
// Hardware:  one GPU, because of the biLM of 2 x 4096 cells. On one CPU core, a training step on the example data of this
//            repository (45 questions about paragraphs of up to 52 words) took 6 s of processor time, and 2.1 GB at most.
//
// SQUAD:        the folder of train-v1.1.json and dev-v1.1.json.
// WORD_VECTORS: GloVe's glove.840B.300d.txt.
local elmo = import '../elmo_plugin/jsonnet/elmo.libsonnet';
local squad = import '../elmo_plugin/jsonnet/squad.libsonnet';
local words = import '../elmo_plugin/jsonnet/words.libsonnet';

squad(
  data=std.extVar('SQUAD'),
  train='train-v1.1.json',
  dev='dev-v1.1.json',
  words=words.glove(std.extVar('WORD_VECTORS'), dim=300),
) + elmo.at(['input', 'output'], bilm='original', dropout=0.5) + {
  trainer+: { moving_average+: { numerator: 1, denominator: 1 } },  // a constant decay, without a ramp at the start
}
