# SPDX-License-Identifier: Apache-2.0
"""A matrix product in Triton, of 16-bit and single-precision operands, with masked edges."""
import torch
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, rows, columns, depth, row_a, row_b, row_c, PRECISION: tl.constexpr,
            ROWS: tl.constexpr, COLUMNS: tl.constexpr, DEPTH: tl.constexpr):
    i = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    j = tl.program_id(1) * COLUMNS + tl.arange(0, COLUMNS)
    k = tl.arange(0, DEPTH)
    total = tl.zeros((ROWS, COLUMNS), tl.float32)
    for first in range(0, depth, DEPTH):
        in_depth = first + k < depth
        left = tl.load(a + i[:, None] * row_a + (first + k)[None, :],
                       (i < rows)[:, None] & in_depth[None, :], 0.0)
        right = tl.load(b + (first + k)[:, None] * row_b + j[None, :],
                        in_depth[:, None] & (j < columns)[None, :], 0.0)
        total = tl.dot(left, right, total, input_precision=PRECISION)
    tl.store(c + i[:, None] * row_c + j[None, :], total.to(c.dtype.element_ty),
             (i < rows)[:, None] & (j < columns)[None, :])


def check(rows, columns, depth, dtype, precision, tolerance, tile, warps):
    x, y = torch.randn(rows, depth).to(dtype), torch.randn(depth, columns).to(dtype)
    a, b = x.cuda(), y.cuda()
    c = torch.empty(rows, columns, device="cuda")
    grid = (triton.cdiv(rows, tile[0]), triton.cdiv(columns, tile[1]))
    product[grid](a, b, c, rows, columns, depth, a.stride(0), b.stride(0), c.stride(0), precision,
                  *tile, num_warps=warps)
    expected = x.double() @ y.double()
    assert (c.cpu().double() - expected).abs().max() < tolerance * depth ** 0.5


def main():
    torch.manual_seed(7)
    check(128, 128, 128, torch.float16, "tf32", 1e-3, (64, 64, 32), 4)
    check(100, 77, 90, torch.bfloat16, "tf32", 1e-3, (128, 64, 64), 4)
    check(256, 128, 64, torch.float16, "tf32", 1e-3, (128, 128, 64), 8)
    check(65, 130, 70, torch.float32, "tf32", 2e-2, (64, 64, 32), 4)
    check(33, 40, 50, torch.float32, "ieee", 1e-4, (32, 32, 16), 4)
    print("right")


main()
