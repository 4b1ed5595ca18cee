// Goes on with `tiny` where bilm_tiny.jsonnet ended. bilm_tiny.sh has all of its trainings, in their order.
//
// Paper:     one training of 10 epochs, with dropout 0.1.
// Here:      two more epochs with the moving average of the weights. Other seeds, with dropout or without, give other
//            weights, whose mean is better than each.
// Expected:  see elmo_plugin/bilm/models/tiny/README.md.
// Hardware:  one CPU core, 35 minutes.
//
// BILM_INITIAL: the archive to continue from, whose vocabulary stays. BILM_TRAIN_DATA_PATH and
// BILM_VALIDATION_DATA_PATH as there.

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
