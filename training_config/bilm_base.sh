#!/usr/bin/env bash
# Trains the biLM that is bundled as `base`, from random weights to RUNS/base.
#
#     OMP_NUM_THREADS=2 uv run training_config/bilm_base.sh DATA RUNS [OPTIONS]
#
# DATA has the folders `lm` and `lm2` of train-*.txt.gz, and lm/heldout-dev.txt; RUNS gets the four trainings. After a kill
# at any moment the same command resumes, and ends with the same weights. OPTIONS, as those of `allennlp train -o`, count in
# all: for a smaller trial. With LD_PRELOAD=libtcmalloc_minimal.so.4 it takes a quarter less time: see
# docs/train_a_bilm.md.
set -euo pipefail
export BILM_VALIDATION_DATA_PATH="$1/lm/heldout-dev.txt" BILM_VOCABULARY="$2/vocabulary.tar.gz" BILM_INITIAL=""
data=$1 runs=$2 options=${3:-{\}}

continued="{'trainer.num_epochs': 1, 'trainer.optimizer.lr': 0.002, 'model.num_negatives': 4096,
    'trainer.checkpointer.save_every_num_batches': 500}"

train() { # NAME CONFIG TEXT [OPTIONS]
    [ -e "$runs/$1/model.tar.gz" ] && return
    local start=--force # where there is less than a configuration, there is nothing to resume
    [ -e "$runs/$1/config.json" ] && start=--recover
    BILM_TRAIN_DATA_PATH="$data/lm*/$3" allennlp train "training_config/$2.jsonnet" -s "$runs/$1" "$start" \
        -o "${4:-{\}} + $options" --file-friendly-logging
}

# The words that `tiny` predicts, so that the perplexities of the two compare.
[ -e "$BILM_VOCABULARY" ] || BILM_TRAIN_DATA_PATH="$data/lm/train-*.txt.gz" \
    allennlp build-vocab training_config/bilm_tiny.jsonnet "$BILM_VOCABULARY"

# What two cores read in two hours each: 40.0 and 38.6 of the 58.7 million words.
train first bilm_base 'train-[01][0-7].txt.gz'
BILM_INITIAL="$runs/first/model.tar.gz"
train second bilm_continued 'train-[02][0-9].txt.gz' "$continued + {'model.dropout': 0}"

# Two of one core each, whose mean is better than either.
export BILM_INITIAL="$runs/second/model.tar.gz" OMP_NUM_THREADS=1
train third_a bilm_continued 'train-[01][6-9].txt.gz' "$continued + {'model.dropout': 0, 'data_loader.seed': 1,
    'pytorch_seed': 1}"
train third_b bilm_continued 'train-[01][0-2].txt.gz' "$continued + {'data_loader.seed': 2, 'pytorch_seed': 2}"
python experiments/average.py "$runs"/third_{a,b}/model.tar.gz "$runs/third.tar.gz"

allennlp elmo-export "$runs/third.tar.gz" "$runs/base" --dtype float16 --no-softmax
