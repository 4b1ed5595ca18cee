"""Adds the softmax of a biLM that bilm-tf trained to the weights that its `dump_weights` wrote.

Runs in bilm-tf's environment (TensorFlow 1.15, Python 3.7, h5py), without this package:

    python bilm_tf_softmax.py SAVE_DIR VOCABULARY WEIGHTS

SAVE_DIR is the training's folder of checkpoints (the last is read), VOCABULARY its file of words,
and WEIGHTS the file to be completed. `elmo perplexity` and further trainings then take the folder
with WEIGHTS and the training's options.json.
"""

import os
import shutil
import sys
import zlib

import h5py
import numpy as np
import tensorflow as tf

NOT_A_WORD = "!!!MAXTERMID"  # bilm-tf skips this line of the 1 Billion Word Benchmark's file


def read_words(vocabulary):
    """Returns the word of each row of the softmax."""
    with open(vocabulary, encoding="utf-8") as file:
        words = [line.strip() for line in file]
    return [word for word in words if word != NOT_A_WORD]


def write_dataset(file, name, values):
    """Writes an array, and its checksum for elmo_plugin to check."""
    dataset = file.create_dataset(name, data=values)
    dataset.attrs["crc32"] = np.uint32(zlib.crc32(values.tobytes()))


def add_softmax(save_dir, vocabulary, weights):
    """Writes the group `softmax` into a copy of the weights; a whole copy replaces them."""
    words = read_words(vocabulary)
    checkpoint = tf.train.load_checkpoint(save_dir)
    weight = checkpoint.get_tensor("lm/softmax/W")
    bias = checkpoint.get_tensor("lm/softmax/b")
    if len(words) != len(weight):
        sys.exit(f"{vocabulary} has {len(words)} words, but the softmax {len(weight)} rows")
    with h5py.File(weights, "r") as file:
        if "softmax" in file:
            sys.exit(f"{weights} has a softmax already")
    incomplete = f"{weights}.incomplete"
    shutil.copyfile(weights, incomplete)
    with h5py.File(incomplete, "r+") as file:
        write_dataset(file, "softmax/W", weight)
        write_dataset(file, "softmax/b", bias)
        text = "".join(f"{word}\0" for word in words)
        write_dataset(file, "softmax/words", np.frombuffer(text.encode("utf-8"), np.uint8))
    os.replace(incomplete, weights)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: python bilm_tf_softmax.py SAVE_DIR VOCABULARY WEIGHTS")
    add_softmax(*sys.argv[1:])
