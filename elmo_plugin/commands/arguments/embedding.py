"""The arguments of the commands that embed text, and that read and write biLMs."""

import argparse
import os
from pathlib import Path
from typing import Any

from elmo_plugin.commands.command import Command, output_paths
from elmo_plugin.commands.options import (
    BILM,
    DTYPES,
    InputPath,
    OutputPath,
    TextPath,
    TextPattern,
    add_number,
    add_options,
    devices,
)
from elmo_plugin.common.bundled import bundled_models
from elmo_plugin.common.errors import BiLmError
from elmo_plugin.common.outputs import target_of

STATES = ("carry", "reset")
TOKENIZERS = ("whitespace", "spacy", "letters")
OUTPUT_FORMATS = ("hdf5", "safetensors", "npz", "csv")
MAX_BATCH_TOKENS = 8192
LANGUAGE: dict[str, Any] = {
    "default": "en",
    "metavar": "CODE",
    "help": "language of spaCy's rules (default: %(default)s)",
}


class TextStream(InputPath):
    """A text that is read once, line by line; with --dask a pattern of texts."""

    kind = "text"

    def check(self) -> None:
        if not set("*?[") & set(self):
            super().check()


class _OneOutput(argparse.Action):
    """Stores OUTPUT, which is named once, with --output or without."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option: str | None = None) -> None:
        if namespace.output is not None:
            parser.error("OUTPUT and --output: name one file")
        namespace.output = OutputPath(values)


def _check_embed(args: argparse.Namespace) -> None:
    if args.output is None:
        raise BiLmError("expected OUTPUT, a file to write")


def _resume_embed(args: argparse.Namespace) -> Path:
    path = args.output or os.devnull
    return Path(path if args.dask is not None else f"{target_of(path)}.unfinished")


def _add_embed(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    about = (
        "one sentence per line, or proteins in .fasta, .fa or .faa (plain, .gz or .zst); - for standard "
        "input; with --dask a quoted pattern"
    )
    add("text", type=TextStream, metavar="TEXT", help=about)
    about = "a file, .hdf5, .safetensors, .npz or .csv; with --dask a folder"
    # Without a default, a missing OUTPUT keeps the value of --output.
    add("output", action=_OneOutput, nargs="?", default=argparse.SUPPRESS, metavar="OUTPUT", help=about)
    add_options(parser, "-o/--output", action=_OneOutput)

    group = parser.add_argument_group("the output for a sentence (one of these)")
    layers = group.add_mutually_exclusive_group()
    choices = {
        "all": "all layers: (layers, words, dim)",
        "top": "the top layer: (words, dim)",
        "mean": "the mean of the layers: (words, dim); the default",
        "sum": "the sum of the layers: (words, dim), as SeqVec's",
    }
    for name, about in choices.items():
        layers.add_argument(f"--{name}", dest="layers", action="store_const", const=name, help=about)
    add_options(layers, "--mix")
    about = "one vector per protein (or sentence), the mean over its residues (or words): (dim,)"
    group.add_argument("--per-protein", dest="pooling", action="store_const", const="mean", help=about)
    about = "for --mix: which, if ARCHIVE has several, such as input or output (see elmo weights)"
    group.add_argument("--placement", metavar="NAME", help=about)

    group = parser.add_argument_group("the biLM (default: base, and for --mix ARCHIVE's)")
    add_options(group, "--bilm", "--precision", "--trust")
    group.add_argument("--options-file", metavar="FILE", help="options.json, with --weight-file")
    group.add_argument("--weight-file", metavar="FILE", help="weights.hdf5, with --options-file")

    group = parser.add_argument_group("the text")
    add = group.add_argument
    about = "whitespace: already tokenized (default); spacy: by spaCy's rules; letters: of a protein"
    add("--tokenizer", choices=TOKENIZERS, default=TOKENIZERS[0], help=about)
    add_number(group, "--max-words", 100_000, "refuse longer lines")
    add("--language", **LANGUAGE)

    group = parser.add_argument_group("the file")
    add_options(group, "--dtype", default=DTYPES[0])
    add = group.add_argument
    about = "format of OUTPUT (default: by its suffix); fasta: TEXT is FASTA, whatever its suffix"
    add("--format", choices=(*OUTPUT_FORMATS, "fasta"), action="append", default=[], help=about)
    add("--compression", choices=["gzip"], help="compress the vectors of HDF5")
    add_number(group, "--compression-level", 4, "level of --compression, 1 to 9")
    about = "leave the sentences out"
    add("--forget-sentences", dest="keep_sentences", action="store_false", help=about)
    about = "name HDF5's datasets by sentence, not by line"
    add("--use-sentence-keys", dest="keys", action="store_const", const="sentence", help=about)
    parser.set_defaults(layers="mean", keys="line")

    group = parser.add_argument_group("the work")
    add_options(group, "--batch-size", default=64)
    add_number(group, "--max-batch-tokens", MAX_BATCH_TOKENS, "number of words at a time, padding included")
    add_options(group, "--workers", "--dask")
    add_number(group, "--threads", 1, "number of threads of each worker")
    about = "processor: cpu, cuda or cuda:N, or several GPUs with commas (default: %(default)s)"
    add_options(group, "--device", type=devices, metavar="DEVICE[,…]", help=about)


def _add_models(parser: argparse.ArgumentParser) -> None:
    about = "print only the path of this model: the archive of a trained model, or the folder of another"
    parser.add_argument("--path", metavar="NAME", choices=list(bundled_models()), help=about)
    add_options(parser, "--json")


def _add_neighbors(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("bilm", **BILM)
    about = "the text to search: one sentence per line (plain, .gz or .zst)"
    add("text", type=TextPath, metavar="TEXT", help=about)
    about = "a word in brackets in its sentence, as in 'They saw a Broadway [play].'; or a word alone"
    add("words", metavar="WORD", nargs="+", help=about)
    add_number(parser, "-k", 10, "number of neighbours")
    about = "number of the layer; 0 is the token layer (default: the top layer)"
    add("--layer", type=int, metavar="N", help=about)
    add("--language", **LANGUAGE)
    add_options(parser, "--json", "--device", "--precision")


def _add_perplexity(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("bilm", **BILM)
    about = "one sentence per line (plain, .gz or .zst), or a quoted pattern"
    add("texts", type=TextPattern, nargs="+", metavar="TEXT", help=about)
    about = (
        "carry: sentence follows sentence in blocks, as in training (default); reset: each sentence is read "
        "separately, as in applications"
    )
    add("--state", choices=STATES, default=STATES[0], help=about)
    about = "for carry: a block is the fewest sentences with at least N words"
    add_number(parser, "--block-words", 1000, about)
    about = "write JSON lines with the scores of each sentence"
    add("--per-sentence", type=OutputPath, metavar="FILE", help=about)
    add_options(parser, "--json", "--device", "--precision", "--cache")
    add_options(parser, "--batch-size", default=128)


def _add_export(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("bilm", **BILM)
    add("output", type=OutputPath, metavar="OUTPUT", help="the folder for options.json and weights.hdf5")
    add_options(parser, "--dtype")
    add("--no-softmax", action="store_true", help="leave out the softmax, needed only in training")
    add("--hf", action="store_true", help="add a model card, for a model hub such as Hugging Face's")


COMMANDS = (
    Command(
        "embed",
        "Write the vectors of a text to HDF5, safetensors, NumPy's .npz or CSV. A run that was stopped "
        "continues when you start it again, and writes the same file.",
        "elmo embed text.txt vectors.npz\n"
        "elmo embed text.txt vectors.hdf5 --bilm original --top\n"
        "elmo embed proteins.fasta vectors.h5 --bilm seqvec --sum\n"
        "elmo embed - vectors.csv --tokenizer spacy < text.txt",
        _add_embed,
        check_arguments=_check_embed,
        resume_path=_resume_embed,
        outputs=lambda args: output_paths(args) if args.dask is None else [],
    ),
    Command(
        "models",
        "List the biLMs, the word vectors and the trained models of this package. The name of a trained "
        "model is an ARCHIVE of every command; --path has its archive for AllenNLP's commands: allennlp "
        'predict "$(elmo models --path ner)" FILE --include-package elmo_plugin.plugin.',
        "elmo models\nelmo models --path ner",
        _add_models,
    ),
    Command(
        "neighbors",
        "Find the words of a text that are nearest to a word in its sentence. Words are compared by the "
        "cosine of their vectors. Text is split into words by spaCy's rules, without a model.",
        "elmo neighbors base text.txt 'They saw a Broadway [play].'\n"
        "elmo neighbors base text.txt.gz play -k 20 --json neighbors.json",
        _add_neighbors,
    ),
    Command(
        "perplexity",
        "Measure how well a biLM predicts a text. Both language models score each word, and the end of each "
        "sentence, by their full softmax; names such as base have none. Perplexities are comparable only "
        "over the same vocabulary; unknown words count as one word.",
        "elmo perplexity run/model.tar.gz test.txt\n"
        "elmo perplexity run/model.tar.gz 'test/*.txt' --per-sentence scores.jsonl",
        _add_perplexity,
    ),
    Command(
        "export",
        "Write a biLM as the options.json and weights.hdf5 of published ELMo models.",
        "elmo export run/model.tar.gz exported\nelmo export base exported --dtype float16 --hf",
        _add_export,
        outputs=lambda args: [Path(args.output) / name for name in ("options.json", "weights.hdf5")],
    ),
)
