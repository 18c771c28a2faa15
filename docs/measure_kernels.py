"""Measures the kernels of one GPU for `trainfront calibrate` (docs/calibrating.md).

    python3 measure_kernels.py [FOLDER]            # on the GPU, about 15 minutes
    python3 measure_kernels.py --dry-run [FOLDER]  # a few small shapes on the CPU: shows that it runs

Writes gemm.csv, attention.csv and elementwise.csv into FOLDER (default: the current one). Needs PyTorch 2.
Times come from CUDA graphs, so that launching from the host does not count; a dry run's mean nothing.
"""

import argparse
import csv
import itertools
import pathlib
import random
import time

import torch
import torch.nn.functional as F

if not hasattr(F, "scaled_dot_product_attention"):
    raise SystemExit("needs PyTorch 2.0 or later")

SOURCE = "measure_kernels"


def cuda_time_us(call, repeats):
    for _ in range(3):
        call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(repeats):
            call()
    best = float("inf")
    for _ in range(5):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        graph.replay()
        end.record()
        torch.cuda.synchronize()
        best = min(best, start.elapsed_time(end) * 1e3 / repeats)
    return best


def cpu_time_us(call, repeats):
    call()
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        best = min(best, (time.perf_counter() - start) * 1e6)
    return best


class Bench:
    def __init__(self, folder, dry_run, gpu):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.dry_run = dry_run
        self.device = "cpu" if dry_run else "cuda"
        self.gpu = gpu or ("dry run" if dry_run else torch.cuda.get_device_name().replace("NVIDIA ", ""))

    def tensor(self, *shape):
        return torch.randn(*shape, device=self.device).to(torch.bfloat16)

    def time_us(self, call, repeats=20):
        measure = cpu_time_us if self.dry_run else cuda_time_us
        return round(measure(call, min(repeats, 3) if self.dry_run else repeats), 3)

    def write(self, name, header, rows):
        with open(self.folder / name, "w", newline="") as file:
            csv.writer(file).writerows([header, *rows])

    def gemm(self):
        sizes = [512, 1024, 2048, 3072, 4096, 5120, 8192, 14336, 16384, 28672]
        tokens = [16, 64, 256, 512, 1024, 2048, 4096, 8192, 16384]
        count = 256
        if self.dry_run:
            sizes, tokens, count = [32, 64], [16, 64], 6
        shapes = random.Random(0).sample(list(itertools.product(tokens, sizes, sizes)), count)
        rows = []
        for m, n, k in shapes:
            a, b = self.tensor(m, k), self.tensor(n, k)
            rows.append([SOURCE, self.gpu, "bfloat16", m, n, k, self.time_us(lambda: F.linear(a, b))])
        self.write("gemm.csv", ["source", "gpu", "precision", "m", "n", "k", "time_us"], rows)

    def attention(self):
        batches, sequences, heads, dims = [1, 2, 8], [512, 1024, 2048, 4096, 8192], [8, 16, 32], [64, 128]
        if self.dry_run:
            batches, sequences, heads, dims = [1], [32, 64], [2], [64]
        rows = []
        for batch, s, h, dim in itertools.product(batches, sequences, heads, dims):
            if batch * s > 32768:
                continue
            q, k, v = (self.tensor(batch, h, s, dim) for _ in range(3))
            call = lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True)
            rows.append([SOURCE, self.gpu, "bfloat16", batch, s, s, h, h, dim, 1, "fwd", self.time_us(call, 5)])
        header = ["source", "gpu", "precision", "batch", "seq_q", "seq_kv", "heads", "kv_heads", "head_dim",
                  "causal", "direction", "time_us"]
        self.write("attention.csv", header, rows)

    def elementwise(self):
        width = 64 if self.dry_run else 4096
        weight = self.tensor(width)
        rows = []
        for power in range(8, 11) if self.dry_run else range(16, 29):
            x = self.tensor(max(1, 2**power // width), width)
            y = self.tensor(*x.shape)
            once = x.numel() * 2
            calls = {
                "add": (3 * once, lambda: x + y),
                "copy": (2 * once, lambda: x.clone()),
                "norm": (2 * once, lambda: F.layer_norm(x, (width,), weight)),
                "activation": (2 * once, lambda: F.silu(x)),
            }
            for op, (moved, call) in calls.items():
                rows.append([SOURCE, self.gpu, op, "bfloat16", moved, self.time_us(call)])
        self.write("elementwise.csv", ["source", "gpu", "op", "precision", "bytes_or_elems", "time_us"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default=".")
    parser.add_argument("--dry-run", action="store_true", help="a few small shapes on the CPU")
    parser.add_argument("--gpu", default="", help="its name, where PyTorch's is not known to trainfront")
    options = parser.parse_args()
    bench = Bench(options.folder, options.dry_run, options.gpu)
    with torch.no_grad():
        bench.gemm()
        bench.attention()
        bench.elementwise()


if __name__ == "__main__":
    main()
