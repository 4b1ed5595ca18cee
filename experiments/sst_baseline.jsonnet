// The classifier of sst_elmo.jsonnet without ELMo, for comparison.
//
// Paper:     the same network, with LSTMs of 300 cells and GloVe vectors, scores 51.4 % on the five classes of the
//            SST test set.
// Here:      LSTMs of 64 cells, so that it takes minutes; the word vectors of this package, 40,000 x 100; fewer
//            epochs with a rate of 0.002, in smaller batches; the small data set of this repository.
// Expected:  docs/results/small.json, three seeds; docs/results.md has larger data.
// Hardware:  one CPU core, half a minute.
local sst = import '../elmo_plugin/jsonnet/sst.libsonnet';
local words = import '../elmo_plugin/jsonnet/words.libsonnet';

sst(data='experiments/data/sst', words=words.bundled(), hidden=64, learning_rate=0.002, batch_size=32, epochs=12)
