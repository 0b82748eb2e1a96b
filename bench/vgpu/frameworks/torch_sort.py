# SPDX-License-Identifier: Apache-2.0
"""Sorting in PyTorch: by CUB's radix sort (long rows), in blocks (short rows), top k, unique."""
import torch

torch.manual_seed(3)


def main():
    for values in (torch.randn(100000), torch.randint(-1000, 1000, (100000,)),
                   torch.randn(20000).double(), torch.randint(256, (5000,), dtype=torch.uint8)):
        for descending in (False, True):
            result = torch.sort(values.cuda(), descending=descending, stable=True)
            expected = torch.sort(values, descending=descending, stable=True)
            assert (result.values.cpu() == expected.values).all()
            assert (result.indices.cpu() == expected.indices).all()
    for shape in ((100, 20), (30, 700), (20, 3000)):
        rows = torch.randn(shape)
        result = torch.sort(rows.cuda(), stable=True)
        expected = torch.sort(rows, stable=True)
        assert (result.values.cpu() == expected.values).all()
        assert (result.indices.cpu() == expected.indices).all()
        result, expected = torch.topk(rows.cuda(), 5), torch.topk(rows, 5)
        assert (result.values.cpu() == expected.values).all()
    values = torch.randint(100, (10000,))
    for result, expected in zip(torch.unique(values.cuda(), return_inverse=True,
                                             return_counts=True),
                                torch.unique(values, return_inverse=True, return_counts=True)):
        assert (result.cpu() == expected).all()
    order = torch.argsort(values.cuda(), stable=True).cpu()
    assert (order == torch.argsort(values, stable=True)).all()
    assert torch.median(values.cuda()).cpu() == torch.median(values)
    assert sorted(torch.randperm(5000, device="cuda").tolist()) == list(range(5000))
    print("right")


main()
