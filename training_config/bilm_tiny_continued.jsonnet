// The second stage of `tiny`: goes on where bilm_tiny.jsonnet ended.
//
// Paper:     one stage of 10 epochs with 8192 negatives for 793,471 words.
// Here:      three more epochs with four times the negatives of the first stage, and a new fall of the rate: many
//            negatives cost time that is better spent late, when the frequent words have been learned.
// Expected:  see elmo_plugin/bilm/models/tiny/README.md.
// Hardware:  one CPU core, about an hour and a half.
//
// BILM_INITIAL: the archive of the first stage, whose vocabulary stays. BILM_TRAIN_DATA_PATH and
// BILM_VALIDATION_DATA_PATH as there.

local bilm = import 'lib/bilm.libsonnet';

bilm.train(
  sizes=null,
  data=std.extVar('BILM_TRAIN_DATA_PATH'),
  validation=std.extVar('BILM_VALIDATION_DATA_PATH'),
  vocabulary={ type: 'from_files', directory: std.extVar('BILM_INITIAL') },
  epochs=3,
  negatives=8192,
  dropout=0.0,
  precision='bfloat16',
)
+ { data_loader+: { seed: 20261121 } }
+ bilm.modern(rate=0.002)
+ bilm.from(std.extVar('BILM_INITIAL'))
