local ner = import '../training_config/lib/ner.libsonnet';

ner(data='experiments/data/ner', epochs=20)
