#!/usr/bin/env bash
# Trains the biLM that is bundled as `tiny`, from random weights to elmo_plugin/models/bilm/tiny.
#
#     OMP_NUM_THREADS=1 training_config/bilm_tiny.sh CORPUS RUNS
#
# CORPUS has train-*.txt.gz and heldout-dev.txt; RUNS gets the trainings, about six hours of one CPU core. One
# that was interrupted resumes with `--recover`; one that is there already is not repeated.
set -euo pipefail
export BILM_TRAIN_DATA_PATH="$1/train-*.txt.gz" BILM_VALIDATION_DATA_PATH="$1/heldout-dev.txt"
runs=$2

train() { # NAME CONFIG [OPTIONS]
    [ -e "$runs/$1/model.tar.gz" ] && return
    local start=--force # where there is less than a configuration, there is nothing to resume
    [ -e "$runs/$1/config.json" ] && start=--recover
    uv run allennlp train "training_config/$2.jsonnet" -s "$runs/$1" "$start" -o "${3:-{\}}"
}

go_on_from() { export BILM_INITIAL="$runs/$1"; }

train first bilm_tiny

go_on_from first/model.tar.gz
train second_a bilm_continued '{"trainer.num_epochs": 3, "trainer.moving_average": null, "model.dropout": 0,
    "model.num_negatives": 8192, "trainer.optimizer.lr": 0.002}'
train second_b bilm_continued '{"trainer.optimizer.lr": 0.002,
    "trainer.learning_rate_scheduler.end_learning_rate": 0.0001}'
uv run python experiments/average.py "$runs"/second_{b,a}/model.tar.gz "$runs/second.tar.gz"

go_on_from second.tar.gz
train third_a bilm_continued '{"data_loader.seed": 1, "pytorch_seed": 1}'
train third_b bilm_continued '{"data_loader.seed": 2, "pytorch_seed": 2}'
train third_c bilm_continued '{"data_loader.seed": 3, "pytorch_seed": 3, "model.dropout": 0}'
train third_d bilm_continued '{"data_loader.seed": 4, "pytorch_seed": 4, "model.dropout": 0}'
uv run python experiments/average.py "$runs"/third_{a,b,c,d}/model.tar.gz "$runs/third.tar.gz"

uv run allennlp elmo-export "$runs/third.tar.gz" elmo_plugin/models/bilm/tiny --dtype float16 --no-softmax
