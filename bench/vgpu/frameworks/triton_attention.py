# SPDX-License-Identifier: Apache-2.0
"""A fused attention kernel in Triton: online softmax between two products, causal or not."""
import torch
import triton
import triton.language as tl


@triton.jit
def attention(q, k, v, out, length, scale, CAUSAL: tl.constexpr, WIDTH: tl.constexpr,
              ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    first = tl.program_id(0) * ROWS
    head = tl.program_id(1) * length * WIDTH
    i, d = first + tl.arange(0, ROWS), tl.arange(0, WIDTH)
    query = tl.load(q + head + i[:, None] * WIDTH + d[None, :], (i < length)[:, None], 0.0)
    most = tl.full((ROWS,), -float("inf"), tl.float32)
    weight = tl.zeros((ROWS,), tl.float32)
    total = tl.zeros((ROWS, WIDTH), tl.float32)
    end = min(length, first + ROWS) if CAUSAL else length
    for at in range(0, end, COLUMNS):
        j = at + tl.arange(0, COLUMNS)
        key = tl.load(k + head + j[None, :] * WIDTH + d[:, None], (j < length)[None, :], 0.0)
        score = tl.dot(query, key) * scale
        seen = (j < length)[None, :] & ((i[:, None] >= j[None, :]) | (not CAUSAL))
        score = tl.where(seen, score, -float("inf"))
        larger = tl.maximum(most, tl.max(score, 1))
        part = tl.exp2(score - larger[:, None])
        change = tl.exp2(most - larger)
        weight = weight * change + tl.sum(part, 1)
        value = tl.load(v + head + j[:, None] * WIDTH + d[None, :], (j < length)[:, None], 0.0)
        total = tl.dot(part.to(value.dtype), value, total * change[:, None])
        most = larger
    total /= weight[:, None]
    tl.store(out + head + i[:, None] * WIDTH + d[None, :], total.to(out.dtype.element_ty),
             (i < length)[:, None])


def main():
    torch.manual_seed(9)
    for length, width, dtype in ((128, 64, torch.float16), (200, 32, torch.bfloat16)):
        for causal in (False, True):
            x = [torch.randn(3, length, width).to(dtype) for _ in range(3)]
            q, k, v = (t.cuda() for t in x)
            out = torch.empty_like(q)
            scale = width ** -0.5
            attention[(triton.cdiv(length, 64), 3)](q, k, v, out, length, scale * 1.44269504,
                                                    causal, width, 64, 64, num_warps=4)
            score = x[0].double() @ x[1].double().transpose(1, 2) * scale
            if causal:
                score += torch.full((length, length), -float("inf")).triu(1).double()
            expected = score.softmax(2) @ x[2].double()
            assert (out.cpu().double() - expected).abs().max() < 2e-2
    print("right")


main()
