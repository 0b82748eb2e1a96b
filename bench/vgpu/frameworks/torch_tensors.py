# SPDX-License-Identifier: Apache-2.0
"""Tensors of PyTorch: copies, elementwise functions, broadcasts, views, indices, types."""
import torch

torch.manual_seed(1)


def same(on_device, on_host, tolerance=0.0):
    result = on_device.cpu()
    assert result.dtype == on_host.dtype and result.shape == on_host.shape
    assert torch.allclose(result.double(), on_host.double(), rtol=tolerance, atol=tolerance,
                          equal_nan=True)


def main():
    assert torch.cuda.is_available()
    same(torch.ones(3, device="cuda") + 1, torch.full((3,), 2.0))
    same(torch.arange(100000, device="cuda") * 3 % 7, torch.arange(100000) * 3 % 7)
    x, y = torch.randn(300, 257), torch.randn(257)
    a, b = x.cuda(), y.cuda()
    for function in (lambda u, v: u + v, lambda u, v: u - 2 * v, lambda u, v: u * v + u,
                     lambda u, v: torch.maximum(u, v), lambda u, v: torch.where(u > v, u, v),
                     lambda u, v: u.clamp(-1, 1).abs(), lambda u, v: (u > v).logical_not(),
                     lambda u, v: u.t().contiguous(), lambda u, v: u[::3, 5:90] + 1,
                     lambda u, v: torch.cat([u, v.expand(5, 257)]), lambda u, v: u.roll(7, 1),
                     lambda u, v: u.flip(0), lambda u, v: u.round().to(torch.int32),
                     lambda u, v: u.half().float(), lambda u, v: u.bfloat16() + v.bfloat16(),
                     lambda u, v: u.to(torch.int64) // 3, lambda u, v: u.tril(3)):
        same(function(a, b), function(x, y))
    for function in (torch.exp, torch.sin, torch.tanh, torch.sigmoid, torch.rsqrt, torch.log,
                     torch.erf, torch.nn.functional.gelu, torch.nn.functional.silu):
        same(function(a), function(x), 1e-5)
    rows = torch.randint(300, (50,))
    same(a[rows.cuda()], x[rows])
    same(a.index_select(1, rows.cuda() % 257), x.index_select(1, rows % 257))
    same(a.gather(0, rows.cuda()[None, :]), x.gather(0, rows[None, :]))
    same(torch.zeros(300, device="cuda").scatter_add(0, rows.cuda(), torch.ones(50, device="cuda")),
         torch.zeros(300).scatter_add(0, rows, torch.ones(50)))
    same(a.double().pow(2), x.double().pow(2), 1e-14)
    same(torch.nonzero(a > 1), torch.nonzero(x > 1))
    same(a[a > 1], x[x > 1])
    random = torch.rand(10000, device="cuda")
    assert 0 <= random.min() and random.max() < 1 and abs(random.mean() - 0.5) < 0.02
    normal = torch.randn(10000, device="cuda")
    assert abs(normal.mean()) < 0.05 and abs(normal.std() - 1) < 0.05
    print("right")


main()
