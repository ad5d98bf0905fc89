"""softmax(scores + mask) of an attention in PyTorch on the CPU, replaced by kernelpack, and what that saves.

usage: torch_attention.py [--threads N]      needs torch, which kernelpack itself does not
"""

import argparse
import math
import statistics
import time

import torch

import kernelpack
from kernelpack.torch import BiasSoftmax


class Attention(torch.nn.Module):
    """Self-attention of heads with a mask of padding; `softmax` is what turns scores and mask into weights."""

    def __init__(self, width, heads, softmax):
        super().__init__()
        self.heads = heads
        self.project = torch.nn.Linear(width, 3 * width)
        self.join = torch.nn.Linear(width, width)
        self.softmax = softmax

    def forward(self, x, mask):
        texts, words, width = x.shape
        q, k, v = self.project(x).view(texts, words, 3, self.heads, width // self.heads).permute(2, 0, 3, 1, 4)
        scores = q @ k.transpose(-1, -2) / math.sqrt(q.shape[-1])
        weights = self.softmax(scores, mask)
        return self.join((weights @ v).transpose(1, 2).reshape(texts, words, width))


class TorchSoftmax(torch.nn.Module):
    """What PyTorch has for it: a sum and a softmax."""

    def forward(self, scores, mask):
        return torch.softmax(scores + mask, -1)


def time_in_turns(calls, rounds):
    """Least and median seconds of each call; they take turns, so that other load hits all of them."""
    times = [[] for _ in calls]
    for _ in range(rounds):
        for call, measured in zip(calls, times):
            begin = time.perf_counter()
            call()
            measured.append(time.perf_counter() - begin)
    return [(min(each) * 1e3, statistics.median(each) * 1e3) for each in times]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=60)
    options = parser.parse_args()
    torch.manual_seed(1)
    torch.set_num_threads(options.threads)
    device = kernelpack.Device.cpu(threads=options.threads)
    print(f"torch {torch.__version__}, {options.threads} thread(s), {device.description}")

    by_torch, ours = TorchSoftmax(), BiasSoftmax(device=device)
    for texts, heads, words, width in ((8, 12, 128, 384), (8, 12, 384, 384), (1, 12, 512, 768)):
        x = torch.randn(texts, words, width)
        mask = torch.zeros(texts, 1, 1, words)
        mask[0, ..., words - words // 4:] = -10000.0
        attention = Attention(width, heads, by_torch)
        with torch.no_grad():
            expected = attention(x, mask)
            attention.softmax = ours
            difference = (attention(x, mask) - expected).abs().max().item()
            scores = torch.randn(texts, heads, words, words)

            def whole(softmax):
                def call():
                    attention.softmax = softmax
                    attention(x, mask)
                return call
            results = time_in_turns([lambda: by_torch(scores, mask), lambda: ours(scores, mask),
                                     whole(by_torch), whole(ours)], options.rounds)
        print(f"scores [{texts}, {heads}, {words}, {words}], largest difference of the outputs {difference:.1e}")
        for name, (torch_least, torch_median), (our_least, our_median) in (("softmax alone", *results[:2]),
                                                                          ("whole attention", *results[2:])):
            print(f"  {name:<16} torch {torch_least:7.2f} ms min {torch_median:7.2f} median, kernelpack {our_least:7.2f} "
                  f"{our_median:7.2f}, {torch_median / our_median:.2f} times as fast")


if __name__ == "__main__":
    main()
