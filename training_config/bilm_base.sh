#!/usr/bin/env bash
# Trains the biLM that is bundled as `base`, from random weights to RUNS/base.
#
#     OMP_NUM_THREADS=2 uv run training_config/bilm_base.sh DATA RUNS [OPTIONS]
#
# DATA has the folders `lm` and `lm2` of train-*.txt.gz, and lm/heldout-dev.txt; RUNS gets the training. After a kill at
# any moment the same command resumes, and ends with the same weights. OPTIONS are those of `allennlp train -o`, for a
# smaller trial. With LD_PRELOAD=libtcmalloc_minimal.so.4 it takes a quarter less time: see docs/train_a_bilm.md.
set -euo pipefail
# 40 of the 59 million words: what two cores read in two hours. `tiny` has read those of `lm`.
export BILM_TRAIN_DATA_PATH="$1/lm*/train-[01][0-7].txt.gz" BILM_VALIDATION_DATA_PATH="$1/lm/heldout-dev.txt"
export BILM_VOCABULARY="$2/vocabulary"
training="$2/training"

# The words that `tiny` predicts, so that the perplexities of the two compare.
[ -e "$BILM_VOCABULARY" ] ||
    allennlp elmo-vocab "$1/lm/train-*.txt.gz" --max-size 30000 -o "$BILM_VOCABULARY"

if [ ! -e "$training/model.tar.gz" ]; then
    start=--force # where there is less than a configuration, there is nothing to resume
    [ -e "$training/config.json" ] && start=--recover
    allennlp train training_config/bilm_base.jsonnet -s "$training" "$start" -o "${3:-{\}}" --file-friendly-logging
fi

allennlp elmo-export "$training/model.tar.gz" "$2/base" --dtype float16 --no-softmax
