// Goes on with the training of a biLM on the text of a task, before the task uses it.
//
// Paper:     one epoch on the task's text without its labels (section 3.4 and the supplement), then the biLM is
//            frozen; average perplexity before and after: SNLI 72.1 and 16.8, CoNLL-2003 103.2 and 46.3.
// Here:      AdamW at a small rate; fewer streams, as task texts are small; three epochs, of which the one with the
//            lowest perplexity is saved. A source without a softmax, such as published files, gets a new one, which
//            is trained first while the biLM is frozen.
// Expected:  with `tiny`, dev text of WNUT-17 from 232.6 to 175.1, of SNLI from 125.2 to 28.0; docs/train_a_bilm.md
//            says how that was measured.
// Hardware:  two CPU cores, minutes.
//
// BILM_TRAIN_DATA_PATH, BILM_VALIDATION_DATA_PATH: the task's text, one tokenized sentence per line.
// BILM_INITIAL: a training archive (model.tar.gz), whose vocabulary stays; or the name or folder of an exported or
// published biLM, whose softmax is then for the words of the task's text.

local bilm = import '../elmo_plugin/jsonnet/bilm.libsonnet';

local initial = std.extVar('BILM_INITIAL');
local is_archive = std.endsWith(initial, '.tar.gz');

bilm.train(
  sizes=null,
  data=std.extVar('BILM_TRAIN_DATA_PATH'),
  validation=std.extVar('BILM_VALIDATION_DATA_PATH'),
  vocabulary=if is_archive then { type: 'from_files', directory: initial } else {},
  epochs=3,
  batch_size=32,
)
+ bilm.adamw(rate=0.0005, warm_up_steps=50)
+ bilm.initialized_from(initial, warm_up_batches=if is_archive then 0 else 200)
