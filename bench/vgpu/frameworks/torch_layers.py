# SPDX-License-Identifier: Apache-2.0
"""Layers of PyTorch without cuDNN, on the device and on the host: convolution, pooling,
normalisation, embedding, attention of three kinds, a recurrent and a transformer layer; streams,
events, captured graphs, pinned memory, mixed precision."""
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

torch.manual_seed(10)
torch.backends.cudnn.enabled = False  # cuDNN is NVIDIA's code with a CUDA runtime of its own
F = torch.nn.functional


def same(function, *inputs, tolerance=1e-4):
    result = function(*(t.cuda() for t in inputs)).cpu().double()
    expected = function(*inputs).double()
    assert result.shape == expected.shape
    assert (result - expected).abs().max() <= tolerance * max(1, expected.abs().max())


def gradients_agree(module, x):
    gradients = []
    for device in ("cuda", "cpu"):
        module.zero_grad()
        module.to(device)
        module(x.to(device)).square().sum().backward()
        gradients.append([p.grad.cpu() for p in module.parameters()])
    for on_device, on_host in zip(*gradients):
        assert torch.allclose(on_device, on_host, rtol=1e-3, atol=1e-3)


def check_layers():
    image = torch.randn(2, 4, 16, 16)
    same(lambda x, w: F.conv2d(x, w, padding=1), image, torch.randn(5, 4, 3, 3))
    same(lambda x, w: F.conv2d(x, w, padding=1, groups=4), image, torch.randn(4, 1, 3, 3))
    same(lambda x: F.max_pool2d(x, 2), image)
    same(lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"), image)
    same(lambda x: F.batch_norm(x, None, None, training=True), image)
    same(lambda x: F.group_norm(x, 2), image)
    same(lambda i, w: F.embedding(i, w), torch.randint(10, (5, 4)), torch.randn(10, 7))
    gradients_agree(torch.nn.Sequential(torch.nn.Conv2d(4, 3, 3), torch.nn.ReLU(),
                                        torch.nn.AvgPool2d(2), torch.nn.Flatten(),
                                        torch.nn.Linear(147, 4)), image)
    gradients_agree(torch.nn.Embedding(50, 16), torch.randint(50, (300,)))
    x, lstm = torch.randn(3, 2, 8), torch.nn.LSTM(8, 8)
    expected = lstm(x)[0]
    assert torch.allclose(lstm.cuda()(x.cuda())[0].cpu(), expected, atol=1e-4)
    layer = torch.nn.TransformerEncoderLayer(32, 4, 64, batch_first=True).eval()
    x = torch.randn(2, 10, 32)
    expected = layer(x)
    assert torch.allclose(layer.cuda()(x.cuda()).cpu(), expected, atol=1e-3)


def check_attention():
    for backend, dtype, tolerance in ((SDPBackend.MATH, torch.float32, 1e-4),
                                      (SDPBackend.EFFICIENT_ATTENTION, torch.float32, 5e-3),
                                      (SDPBackend.FLASH_ATTENTION, torch.float16, 5e-3)):
        inputs = [torch.randn(1, 2, 128, 64).to(dtype) for _ in range(3)]
        with sdpa_kernel(backend):
            result = F.scaled_dot_product_attention(*(t.cuda() for t in inputs)).cpu()
        expected = F.scaled_dot_product_attention(*(t.float() for t in inputs))
        assert (result.float() - expected).abs().max() < tolerance


def check_streams():
    x, stream = torch.zeros(100, device="cuda"), torch.cuda.Stream()
    with torch.cuda.stream(stream):
        y = x * 2 + 1
    event = stream.record_event()
    event.synchronize()
    assert (y == 1).all()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = x * 2 + 1
    x.fill_(5)
    graph.replay()
    assert (y == 11).all()
    pinned = torch.randn(1000).pin_memory()
    assert (pinned.cuda(non_blocking=True).cpu() == pinned).all()


def check_mixed_precision():
    layer = torch.nn.Linear(16, 16).cuda()
    scaler = torch.amp.GradScaler("cuda")
    step = torch.optim.SGD(layer.parameters(), lr=0.1)
    before = layer.weight.detach().clone()
    with torch.autocast("cuda", dtype=torch.float16):
        loss = layer(torch.randn(4, 16, device="cuda")).square().mean()
    scaler.scale(loss).backward()
    scaler.step(step)
    scaler.update()
    assert (layer.weight != before).any() and layer.weight.isfinite().all()


def main():
    check_layers()
    check_attention()
    check_streams()
    check_mixed_precision()
    print("right")


main()
