// The trained models of this package, `elmo_plugin/models/tasks`: *_elmo.jsonnet and srl_predicates.jsonnet on all data
// whose licences permit that trained weights are published. build.py trains, packs and scores them:
//
//     python experiments/bundled/build.py
//     elmo sweep 'experiments/bundled/models.jsonnet:*' -s runs/models --seeds 1    # its trainings alone
//
// `data` has the whole sets of docs/results.md; build.py writes what is read from `runs/models`.
local files(folder, train, dev, test=null) = {
  train_data_path: folder + '/' + train,
  validation_data_path: folder + '/' + dev,
  [if test != null then 'test_data_path']: folder + '/' + test,
  [if test != null then 'evaluate_on_test']: true,
};
local all_epochs(number) = { trainer+: { num_epochs: number, patience: null } };
local batches(size) = { data_loader+: { batch_sampler+: { batch_size: size } } };
local averaged = { trainer+: { moving_average: { type: 'exponential', decay: 0.999 } } };
// A second training, which begins with the weights and labels of the first; its rate falls to 0.
local after(first) = {
  model+: {
    initializer: {
      regexes: [['.*', { type: 'pretrained', weights_file_path: 'runs/models/' + first + '/1/best.th' }]],
    },
  },
  vocabulary: { type: 'from_files', directory: 'runs/models/' + first + '/1/vocabulary' },
  trainer+: { learning_rate_scheduler: { type: 'linear_with_warmup', warmup_steps: 50 } },
};
local learning_rate(rate) = { trainer+: { optimizer+: { lr: rate } } };
{
  ner:
    (import '../ner_elmo.jsonnet')
    + files('runs/models/ner', 'train.txt', 'dev.txt')
    + all_epochs(8)
    + batches(20)
    + averaged,
  srl: (import '../srl_elmo.jsonnet') + files('data/srl', 'train', 'dev', 'test') + all_epochs(14) + averaged,
  srl_predicates:
    (import '../srl_predicates.jsonnet')
    + files('data/srl', 'train', 'dev', 'test')
    + { train_data_path: 'runs/models/srl_predicates/train', trainer+: { num_epochs: 10 } },
  coref_first:
    (import '../coref_elmo.jsonnet')
    + files('runs/models/coref', 'train.gold_conll', 'dev.gold_conll')
    + all_epochs(16)
    + averaged
    + { dataset_reader+: { genre_pattern: '(?:gum/)?([a-z]+)[_/]' } },
  coref:
    self.coref_first
    + { train_data_path: 'runs/models/coref/more.gold_conll' }
    + all_epochs(2)
    + { trainer+: { moving_average:: null } }
    + after('coref_first'),
  squad:
    (import '../squad_elmo.jsonnet')
    + { train_data_path: 'runs/models/squad/train.json', validation_data_path: 'data/qa/dev.json' }
    + all_epochs(7)
    + { model+: { word_in_question: true } },
  snli_first:
    (import '../snli_elmo.jsonnet')
    + files('runs/models/snli', 'train.jsonl', 'dev.jsonl')
    + all_epochs(7)
    + averaged
    + { trainer+: { learning_rate_scheduler+: { patience: 1 } } },
  snli:
    self.snli_first
    + files('runs/models/snli', 'more.jsonl', 'dev_more.jsonl')
    + all_epochs(3)
    + { trainer+: { moving_average:: null } }
    + after('snli_first'),
  sst_first:
    (import '../sst_elmo.jsonnet')
    + files('runs/models/sst', 'train.jsonl', 'dev.jsonl')
    + all_epochs(10)
    + batches(64)
    + learning_rate(0.001),
  sst:
    self.sst_first
    + files('runs/models/sst', 'more.jsonl', 'dev_more.jsonl')
    + all_epochs(3)
    + after('sst_first'),
}
