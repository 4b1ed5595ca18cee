"""What people type for our commands and options, by what they mean; and the nearest of all names."""

import re
from collections.abc import Callable, Iterable, Mapping

from elmo_plugin.common.errors import nearest_name

_SPELLED_ALIKE = 0.75  # so that no word of the tables is proposed for an unlike one

COMMANDS_BY_MEANING = {
    "allennlp train config.jsonnet -s run": "train fit training learn fine-tune finetune resume recover",
    "elmo new bilm FOLDER --data TEXT": "pretrain train-lm train-bilm lm language-model",
    "allennlp evaluate model.tar.gz FILE or elmo score TASK FILE": "evaluate eval test accuracy validate",
    "elmo score TASK FILE": "scorer scores f1 metrics metric conlleval",
    "elmo models": "list ls show available catalog zoo model archives download install get fetch pull cache",
    "elmo doctor": "info check env environment status diagnose debug about versions deps config setup",
    "elmo --version": "version ver",
    "elmo help": "usage man manual commands",
    "elmo embed TEXT OUTPUT": "embeddings embedding encode encoder vectors vector vectorize transform extract"
    " features represent to-vectors word-vectors sentence-vectors",
    "elmo predict ner TEXT": "tag tagger entities entity named-entities predictions infer inference"
    " parse annotate label apply process ner",
    "elmo predict sst TEXT": "classify sentiment classification sst opinion polarity",
    "elmo predict squad PASSAGE QUESTION": "answer ask qa question question-answering squad answers",
    "elmo predict snli PREMISE HYPOTHESIS": "entailment nli snli inference-pair",
    "elmo predict coref TEXT": "coref coreference resolve clusters mentions",
    "elmo predict srl TEXT": "srl roles semantic-roles semantic-role-labelling srl-predicates predicates",
    "elmo new TASK FOLDER": "init create project start quickstart template generate scaffold make add pos",
    "elmo demo": "serve server web webapp app ui gui page browser visualize view display start-server",
    "elmo neighbors BILM TEXT WORD": "similar similarity nearest neighbours neighbor neighbour knn closest"
    " most-similar synonyms search compare",
    "elmo perplexity BILM TEXT": "ppl perplexities loss evaluate-lm surprisal",
    "elmo export BILM FOLDER": "save dump upload push share publish write hdf5 save-pretrained",
    "elmo export BILM FOLDER or elmo port OLD": "convert conversion",
    "elmo port OLD": "migrate upgrade update porting translate import",
    "elmo average ARCHIVE -o OUTPUT": "mean averages swa checkpoint-average average-checkpoints",
    "elmo ensemble ARCHIVE -o OUTPUT": "combine vote merge join",
    "elmo sweep CONFIG -s FOLDER": "hyperparameters search-hyperparameters grid seeds experiment experiments"
    " runs benchmark bench grid-search hpo optimize tune",
    "elmo weights ARCHIVE": "layers layer-weights mix mixes gamma scalar-mix plot",
    "elmo senses BILM TRAIN TEST": "wsd sense word-senses disambiguate wordnet",
    "elmo probe BILM TRAIN TEST": "probing probes linear-probe",
    "elmo vocab TEXT -o FOLDER": "vocabulary build-vocab make-vocab words count",
    "elmo library": "jsonnet lib libsonnet",
}
"""The command lines that are meant, and the names that people type for them. Capitals stand for a value."""

_MODELS = "model models m model-name model-path model-name-or-path pretrained checkpoint name"
_OUTPUTS = (
    "out outfile out-file output-file output-path output-dir outdir dest destination save save-to save-path"
    " to target o result results write"
)
OPTIONS_BY_MEANING = {
    "--device cuda": "gpu gpus cuda use-gpu use-cuda g on-gpu",
    "--device cpu": "cpu no-cuda no-gpu use-cpu cpu-only",
    "--device": "devices cuda-device gpu-id gpu-ids accelerator processor d dev",
    "ARCHIVE": f"{_MODELS} archive archives archive-file archive-path task elmo",
    "BILM": f"{_MODELS} elmo lm bilms language-model encoder embedder archive weights",
    "--bilm": f"{_MODELS} elmo lm b language-model encoder embedder embedding embeddings",
    "--options-file": "options config config-file options-json options-path",
    "--weight-file": "weights weights-file weight-path weights-path hdf5 weight",
    "TEXT": "text texts input inputs input-file in infile in-file i file files f data corpus sentence"
    " sentences source src dataset document documents passage question premise hypothesis path filename train",
    "--all, --top or --mean": "layer layers",
    "--mean": "average avg mean-pooling pool pooling averaged average-layers",
    "--top": "last top-layer last-layer final top-only",
    "--all": "all-layers each-layer concat output-hidden-states",
    "--mix": "mixture scalar-mix weighted archive archive-file task-model elmo-weights",
    "--layer": "layers layer-number layer-index top l",
    "-k": "top-k number neighbors neighbours num-neighbors nearest count limit n num top-n max",
    "WORD": "word words query queries w sentence target",
    "--output": _OUTPUTS,
    "OUTPUT": _OUTPUTS,
    "--serialization-dir": f"{_OUTPUTS} output dir folder serialization run runs",
    "FOLDER": f"{_OUTPUTS} output dir folder directory project path serialization-dir",
    "--json": f"{_OUTPUTS} output as-json to-json json-file format output-format jsonl pretty",
    "--format": "type output-format file-format file-type ext extension hdf5 npz csv safetensors",
    "--plot": "figure png svg pdf graph chart image plot-file draw",
    "--max-batch-tokens": "max-tokens tokens-per-batch batch-tokens max-tokens-per-batch token-batch-size",
    "--batch-size": "batch bs b batchsize batches batch-sentences minibatch mini-batch per-device-batch-size",
    "--workers": "jobs n-jobs j num-workers n-workers processes procs num-processes parallel cores cpus",
    "--threads": "num-threads n-threads t torch-threads",
    "--dask": "cluster scheduler distributed",
    "--precision bfloat16": "bf16 bfloat16 half fp16 amp mixed-precision autocast",
    "--precision int8": "int8 quantize quantized quantization 8bit load-in-8bit",
    "--precision": "fp32 compute-type compute-dtype",
    "--dtype float16": "float16 half fp16",
    "--dtype": "numbers data-type",
    "--tokenizer spacy": "spacy tokenize raw split raw-text split-words",
    "--tokenizer whitespace": "whitespace tokenized pretokenized is-split-into-words split-on-space",
    "--tokenizer": "tokenisation tokenization tokeniser tokens tok",
    "--language": "lang language-code locale l languages spacy-language",
    "--max-words": "max-len max-length max-seq-length max-sentence-length truncate",
    "--max-characters": "max-len max-length max-chars limit max-text",
    "--compression gzip": "gzip compress zip compressed gz",
    "--forget-sentences": "no-sentences without-sentences vectors-only",
    "--placement": "position placements place location",
    "--trust": "trust-remote-code unsafe allow-code include-package trusted no-safe",
    "--cache": "cache-dir cache-folder cachedir cache-path",
    "--seeds": "seed random-seed n-seeds num-seeds runs repeats",
    "--quiet": "silent no-progress no-progress-bar s no-log hide-progress disable-tqdm",
    "--verbose": "debug log log-level progress loglevel info",
    "--help": "usage manual",
    "--host": "address ip bind hostname a server",
    "--port": "p listen server-port",
    "--open": "browser open-browser launch show",
    "--predicates": "verbs predicate srl-predicates predicate-model tagger",
    "--squad": "questions question-file evaluate batch-file",
    "--data": "train train-data training-data dataset input inputs dev test valid files file data-path data-dir"
    " text texts corpus",
    "--reader": "dataset-reader reader-options columns column format label text-column",
    "--dry-run": "check test try validate trial",
    "--native": "convert new rewrite plugin",
    "--ext-var": "ext-vars var variable ext-variable",
    "--min-count": "min-freq min-frequency minimum-count min-occurrences",
    "--max-size": "max-vocab vocab-size size max-words top-n max-vocab-size",
    "--overrides": "override set params hparams o",
    "--metric": "metrics validation-metric score optimize",
    "--epochs": "num-epochs epoch n-epochs iterations max-epochs",
    "--state reset": "stateless no-state independent",
    "--state": "stateful mode",
    "--block-words": "block-size window bptt context max-length",
    "--per-sentence": "per-line sentence-scores scores details each-sentence",
    "--no-softmax": "without-softmax skip-softmax drop-softmax",
    "--hf": "huggingface hub model-card card push-to-hub readme",
    "--path": "location where dir folder archive name show",
    "--controls": "baseline baselines random control",
    "--first-senses": "wordnet mfs first-sense backoff",
    "TRAIN": "train-data train-file train-path training data input text corpus",
    "TEST": "test-data test-file tests eval dev eval-data test-path evaluate",
    "TASK": "task-name type kind model name",
    "CONFIG": "config configs config-file configuration param-path parameter-file file experiment model",
    "OLD": "old source input file config archive configuration from src model",
    "FILE": "files file gold system predictions prediction data input key response pred",
}
"""Options, or arguments without one, in capitals. The first counts that the command has."""


def suggest(typed: str, names: Iterable[str], table: Mapping[str, str], exists: Callable[[str], bool]) -> str:
    """
    Returns what was probably meant: one of the names, or what a table has for a word if that exists; else an
    empty string.
    """
    own = {_plain(name): name for name in names}
    meant = {
        _plain(word): target
        for target, words in reversed(table.items())  # the first counts
        if exists(target)
        for word in words.split()
    }
    word, known = _plain(typed), meant | own
    return (
        known.get(word)
        or known.get(nearest_name(word, known, _SPELLED_ALIKE))
        or own.get(nearest_name(word, own), "")
    )


def _plain(name: str) -> str:
    return re.sub("[-_]", "", name.lower())
