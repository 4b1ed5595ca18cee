local elmo = import '../training_config/lib/elmo.libsonnet';
local ner = import '../training_config/lib/ner.libsonnet';

ner(data='experiments/data/ner', dropout=0.3, batch_size=16, epochs=40) + elmo.at(['input'], bilm='tiny', dropout=0.5, lambda=0.1)
