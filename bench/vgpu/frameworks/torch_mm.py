# SPDX-License-Identifier: Apache-2.0
"""Matrix products of PyTorch, which come from cuBLAS and cuBLASLt."""
import torch

torch.manual_seed(4)


def near(result, expected, tolerance):
    assert (result.cpu().double() - expected).abs().max() < tolerance


def check(dtype, tolerance, transposed):
    x = torch.randn(130, 70).to(dtype)
    y = torch.randn(*((50, 70) if transposed else (70, 50))).to(dtype)
    a, b = x.cuda(), y.cuda()
    if transposed:
        y, b = y.t(), b.t()
    expected = x.double() @ y.double()
    result = torch.mm(a, b)
    assert result.dtype == dtype
    near(result, expected, tolerance)
    bias = torch.randn(50).to(dtype)
    near(torch.addmm(bias.cuda(), a, b), expected + bias.double(), tolerance)
    near(torch.nn.functional.linear(a, b.t(), bias.cuda()), expected + bias.double(), tolerance)


def main():
    for dtype, tolerance in ((torch.float32, 1e-4), (torch.float64, 1e-12), (torch.float16, 2e-2),
                             (torch.bfloat16, 2e-1)):
        check(dtype, tolerance, False)
        check(dtype, tolerance, True)
        x, y = torch.randn(6, 40, 30).to(dtype), torch.randn(6, 30, 20).to(dtype)
        near(torch.bmm(x.cuda(), y.cuda()), x.double() @ y.double(), tolerance)
        v = torch.randn(30).to(dtype)
        near(torch.mv(x[0].cuda(), v.cuda()), x[0].double() @ v.double(), tolerance)
        near(torch.dot(v.cuda(), v.cuda()), v.double() @ v.double(), 5 * tolerance)
    torch.backends.cuda.matmul.allow_tf32 = True
    x, y = torch.randn(64, 64), torch.randn(64, 64)
    result = torch.mm(x.cuda(), y.cuda()).cpu()
    assert (result - x @ y).abs().max() < 0.1
    x = torch.randint(-100, 100, (32, 64), dtype=torch.int8)
    y = torch.randint(-100, 100, (64, 32), dtype=torch.int8)
    result = torch._int_mm(x.cuda(), y.cuda())
    assert (result.cpu() == x.int() @ y.int()).all()
    print("right")


main()
