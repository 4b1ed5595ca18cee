local ner = import '../training_config/lib/ner.libsonnet';

ner(data='experiments/data/ner', dropout=0.3, batch_size=16, epochs=40)
