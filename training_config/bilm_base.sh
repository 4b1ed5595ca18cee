#!/usr/bin/env bash
# Trains the biLM that is to be bundled as `base`, from random weights to RUNS/base.
#
#     OMP_NUM_THREADS=1 uv run training_config/bilm_base.sh DATA RUNS [OPTIONS]
#
# DATA has the folders `lm` and `lm2` of train-*.txt.gz, and lm/heldout-dev.txt; RUNS gets the trainings. After a kill at
# any moment the same command resumes, and ends with the same weights. OPTIONS, as those of `allennlp train -o`, count
# in all trainings: for a smaller trial.
set -euo pipefail
export BILM_TRAIN_DATA_PATH="$1/lm*/train-*.txt.gz" BILM_VALIDATION_DATA_PATH="$1/lm/heldout-dev.txt"
export BILM_VOCABULARY="$2/vocabulary"
runs=$2 options=${3:-{\}}

train() { # NAME CONFIG [OPTIONS]
    [ -e "$runs/$1/model.tar.gz" ] && return
    local start=--force # where there is less than a configuration, there is nothing to resume
    [ -e "$runs/$1/config.json" ] && start=--recover
    allennlp train "training_config/$2.jsonnet" -s "$runs/$1" "$start" -o "${3:-{\}} + $options" \
        --file-friendly-logging
}

# The words that `tiny` predicts, so that the perplexities of the two compare.
[ -e "$BILM_VOCABULARY" ] ||
    allennlp elmo-vocab "$1/lm/train-*.txt.gz" --max-size 30000 -o "$BILM_VOCABULARY"

train first bilm_base

export BILM_INITIAL="$runs/first/model.tar.gz"
often='"trainer.num_epochs": 1, "model.num_negatives": 8192, "trainer.checkpointer.save_every_num_batches": 250'
train second_a bilm_tiny_continued "{$often, \"data_loader.seed\": 1, \"pytorch_seed\": 1}"
train second_b bilm_tiny_continued "{$often, \"data_loader.seed\": 2, \"pytorch_seed\": 2, \"model.dropout\": 0}"
allennlp elmo-average "$runs"/second_{a,b}/model.tar.gz -o "$runs/second.tar.gz"

allennlp elmo-export "$runs/second.tar.gz" "$runs/base" --dtype float16 --no-softmax --hf
