local elmo = import 'lib/elmo.libsonnet';
local ner = import 'lib/ner.libsonnet';

ner(
  data=std.extVar('CONLL2003'),
  train='eng.train',
  dev='eng.testa',
  test='eng.testb',
  source_encoding='IOB1',
  word_vectors=std.extVar('WORD_VECTORS'),
) + elmo.at(['input'], bilm='original', dropout=0.5, lambda=0.1)
