#!/usr/bin/env python3
"""Writes sampler_goldens.txt: the orders that PyTorch hands out.

    python3 -m venv /tmp/goldens
    /tmp/goldens/bin/pip install torch numpy xxhash
    /tmp/goldens/bin/python tests/golden/make_sampler_goldens.py \
        > tests/golden/sampler_goldens.txt

One line a case; lists are given by the first 16 digits of the XXH3-128 hash of
their elements as little-endian 64-bit integers, all ranks' lists one after the
other:

    randperm N SEED HASH
    sampler N W SHUFFLE SEED EPOCH DROP_LAST SAMPLES_PER_RANK HASH
"""

import sys

import numpy
import torch
import xxhash
from torch.utils.data import DistributedSampler

SIZES = [1, 2, 3, 7, 8, 10, 11, 100, 1009, 4096, 65537, 100000]
WORLDS = [1, 2, 3, 4, 8, 16]
# Seeds above 32 bits count by their low half.
SEEDS_AND_EPOCHS = [(0, 0), (0, 1), (7, 3), (2**32 + 5, 2)]
PERMUTATIONS = [(0, 0), (1, 0), (2, 1), (10, 0), (1000, 42), (100000, 1),
                (2**20, 123456789)]


def digest(values):
    return xxhash.xxh3_128_hexdigest(
        numpy.asarray(values, dtype="<i8").tobytes())[:16]


def sampler_line(size, world, shuffle, seed, epoch, drop_last):
    everything = []
    for rank in range(world):
        sampler = DistributedSampler(range(size), num_replicas=world, rank=rank,
                                     shuffle=shuffle, seed=seed,
                                     drop_last=drop_last)
        sampler.set_epoch(epoch)
        indices = list(sampler)
        assert len(indices) == len(sampler)
        everything += indices
    return (f"sampler {size} {world} {int(shuffle)} {seed} {epoch} "
            f"{int(drop_last)} {len(indices)} {digest(everything)}")


def main():
    print(f"# Made by make_sampler_goldens.py with torch {torch.__version__}.")
    for n, seed in PERMUTATIONS:
        generator = torch.Generator()
        generator.manual_seed(seed)
        order = torch.randperm(n, generator=generator)
        print(f"randperm {n} {seed} {digest(order.numpy())}")
    for size in SIZES:
        for world in WORLDS:
            for drop_last in (False, True):
                # There PyTorch gives every rank an empty list.
                if drop_last and size < world:
                    continue
                print(sampler_line(size, world, False, 0, 0, drop_last))
                for seed, epoch in SEEDS_AND_EPOCHS:
                    print(sampler_line(size, world, True, seed, epoch,
                                       drop_last))


if __name__ == "__main__":
    sys.exit(main())
