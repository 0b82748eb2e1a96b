# SPDX-License-Identifier: Apache-2.0
"""Reductions, scans and norms of PyTorch."""
import torch

torch.manual_seed(2)


def same(on_device, on_host, tolerance=1e-5):
    result = on_device.cpu()
    assert result.dtype == on_host.dtype and result.shape == on_host.shape
    assert torch.allclose(result.double(), on_host.double(), rtol=tolerance, atol=tolerance)


def main():
    x = torch.randn(200, 1000)
    a = x.cuda()
    for function in (torch.sum, torch.mean, torch.amax, torch.amin, torch.std, torch.norm,
                     torch.logsumexp):
        for where in (0, 1, (0, 1)):
            same(function(a, dim=where), function(x, dim=where), 1e-4)
    same(a.sum(), x.sum(), 1e-3)
    same(a.double().sum(), x.double().sum(), 1e-10)
    for which in (0, 1):
        same(a.argmax(which), x.argmax(which), 0)
        same(a.max(which).values, x.max(which).values, 0)
        same(a.cumsum(which), x.cumsum(which), 1e-3)
        same(a.softmax(which), x.softmax(which))
        same(a.log_softmax(which), x.log_softmax(which))
    same((a > 0).any(1), (x > 0).any(1), 0)
    same((a > 5).all(), (x > 5).all(), 0)
    same((a > 0).sum(), (x > 0).sum(), 0)
    same(a[:1].cumprod(1)[:, :30], x[:1].cumprod(1)[:, :30])
    same(torch.nn.functional.layer_norm(a, (1000,)), torch.nn.functional.layer_norm(x, (1000,)),
         1e-4)
    values = torch.randint(50, (10000,))
    same(torch.bincount(values.cuda()), torch.bincount(values), 0)
    same(torch.histc(a, 20, -3, 3), torch.histc(x, 20, -3, 3), 0)
    print("right")


main()
