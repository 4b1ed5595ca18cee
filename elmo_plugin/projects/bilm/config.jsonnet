// A biLM of your own text, from random weights; lib/bilm.libsonnet explains its options. Other sizes are
// `bilm.size(projection=96, cells=384)`.
local bilm = import 'lib/bilm.libsonnet';

bilm.train(
  sizes=bilm.sizes.micro,
  data='data/train.txt',
  validation='data/dev.txt',
  vocabulary={ min_count: { words: 2 }, max_vocab_size: { words: 5000 } },
  epochs=3,
  negatives=null,
  dropout=0.1,
  batch_size=16,
) + bilm.adamw(
  rate=0.005,
  warm_up_steps=200,
)
