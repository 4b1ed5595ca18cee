// The classifier of sst_elmo.jsonnet without ELMo, for comparison.
//
// Paper:     the same network, with LSTMs of 300 cells and GloVe vectors, scores 51.4 % on the five classes of the
//            SST test set.
// Here:      LSTMs of 64 cells and no pretrained word vectors, so that it takes minutes and nothing is downloaded;
//            fewer epochs with a rate of 0.002, in smaller batches; the small data set of this repository.
// Expected:  docs/results/examples.json, three seeds; docs/results.md has larger data.
// Hardware:  one CPU core, half a minute.
local sst = import '../elmo_plugin/jsonnet/sst.libsonnet';

sst(data='experiments/data/sst', hidden=64, learning_rate=0.002, batch_size=32, epochs=12)
