# SPDX-License-Identifier: Apache-2.0
"""A function that torch.compile makes a Triton kernel of, and its gradient."""
import torch

torch.manual_seed(6)


@torch.compile
def normalised(x, weight):
    y = torch.nn.functional.gelu(x) * weight
    return y / (y.pow(2).mean(1, keepdim=True) + 1e-5).sqrt()


def main():
    x, weight = torch.randn(64, 300), torch.randn(300)
    results = []
    for device in ("cuda", "cpu"):
        a, w = x.to(device).requires_grad_(), weight.to(device).requires_grad_()
        function = normalised if device == "cuda" else normalised._torchdynamo_orig_callable
        y = function(a, w)
        y.square().sum().backward()
        results.append([t.detach().cpu() for t in (y, a.grad, w.grad)])
    for result, expected in zip(*results):
        assert torch.allclose(result, expected, rtol=1e-3, atol=1e-3)
    print("right")


main()
