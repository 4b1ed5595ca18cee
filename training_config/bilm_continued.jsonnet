// Goes on where an earlier training ended. bilm_tiny.sh and bilm_base.sh have the trainings of `tiny` and `base`, in
// their order.
//
// Paper:     one training of 10 epochs, with dropout 0.1.
// Here:      two more epochs with the moving average of the weights. Other seeds, with dropout or without, give other
//            weights, whose mean is better than each.
// Expected:  see elmo_plugin/models/bilm/tiny/README.md and elmo_plugin/models/bilm/base/README.md.
// Hardware:  one CPU core, 35 minutes with `tiny`.
//
// BILM_INITIAL: the archive to continue from, whose vocabulary stays. BILM_TRAIN_DATA_PATH and
// BILM_VALIDATION_DATA_PATH as in bilm_tiny.jsonnet.

local bilm = import '../elmo_plugin/jsonnet/bilm.libsonnet';

bilm.train(
  sizes=null,
  data=std.extVar('BILM_TRAIN_DATA_PATH'),
  validation=std.extVar('BILM_VALIDATION_DATA_PATH'),
  vocabulary={ type: 'from_files', directory: std.extVar('BILM_INITIAL') },
  epochs=2,
  negatives=2048,
  dropout=0.1,
  precision='bfloat16',
)
+ { data_loader+: { seed: 20261121 } }
+ bilm.adamw(rate=0.001, end_rate=0.00002)
+ bilm.ema(0.9995)
+ bilm.initialized_from(std.extVar('BILM_INITIAL'))
