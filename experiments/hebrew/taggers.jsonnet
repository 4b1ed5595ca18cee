// Taggers of the parts of speech of Biblical Hebrew, `baseline` with words and characters learned from 512 verses, `elmo`
// also with the biLM that docs/train_a_bilm.md trains. words.py writes the data.
//
//     elmo new bilm runs/hebrew/bilm --data runs/hebrew/text
//     (cd runs/hebrew/bilm && allennlp train config.jsonnet -s run && elmo export run/model.tar.gz exported)
//     elmo sweep 'experiments/hebrew/taggers.jsonnet:*' -s runs/hebrew/taggers --seeds 3 --metric=+test_accuracy \
//         --json docs/results/hebrew.json
//
// Paper:     has no tagger of Hebrew.
// Here:      the model for named entities, without entities.
// Expected:  docs/results/hebrew.json, three seeds.
// Hardware:  one CPU core, nine minutes for the biLM, a minute for each tagger.
local elmo = import '../../elmo_plugin/jsonnet/elmo.libsonnet';
local tagger = import '../../elmo_plugin/jsonnet/ner.libsonnet';

{
  baseline: tagger(
    data='runs/hebrew/tags',
    train='train.tsv',
    dev='dev.tsv',
    test='test.tsv',
    dropout=0.3,
    batch_size=16,
    epochs=15,
    patience=5,
    metric='+accuracy',
  ),
  elmo: self.baseline + elmo.at(
    ['input'], bilm='runs/hebrew/bilm/exported', dropout=0.5, lambda=0.1, cache={ type: 'memory' }
  ),
}
