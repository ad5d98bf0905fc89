"""The attention weights of a real sentence encoder, from its scores and mask.

usage: attention_weights.py [FOLDER]     FOLDER: examples/minilm-attention by default

Computes softmax(scores + mask) of one layer of a MiniLM encoder for a batch of 8 texts with 12 heads, compares it with
the weights that the model itself gave, and prints what the words of a text attend to.
"""

import json
import pathlib
import sys

import numpy

import kernelpack


def main() -> int:
    here = pathlib.Path(__file__).resolve().parent
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else here.parent / "minilm-attention")
    scores = numpy.load(folder / "scores.npy")  # [texts, heads, words, words]
    mask = numpy.load(folder / "mask.npy")  # [texts, 1, 1, words]: 0, or very low where a text has ended
    words = [text["tokens"] for text in json.loads((folder / "tokens.json").read_text())["items"]]

    weights = kernelpack.bias_softmax(scores, mask)

    expected = numpy.load(folder / "probs.npy")
    print(f"weights float32{list(weights.shape)}, largest difference from the model's {abs(weights - expected).max():.1e}")
    text = 1
    mean = weights[text].mean(axis=0)
    for row, word in enumerate(words[text]):
        first = numpy.argsort(-mean[row])[:3]
        print(f"  {word:>12} -> " + ", ".join(f"{words[text][column]} {mean[row, column]:.2f}" for column in first))
    return 0


if __name__ == "__main__":
    sys.exit(main())
