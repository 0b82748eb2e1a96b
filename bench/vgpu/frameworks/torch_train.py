# SPDX-License-Identifier: Apache-2.0
"""A two-layer network in PyTorch, trained on the device and on the host in the same steps."""
import torch

torch.manual_seed(5)


def train(device, optimizer, states, x, labels):
    net = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(), torch.nn.Linear(64, 5))
    net.load_state_dict(states)
    net.to(device)
    step = optimizer(net.parameters())
    losses = []
    for _ in range(10):
        step.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x.to(device)), labels.to(device))
        loss.backward()
        step.step()
        losses.append(loss.item())
    return losses, [p.detach().cpu() for p in net.parameters()]


def main():
    states = torch.nn.Sequential(torch.nn.Linear(20, 64), torch.nn.ReLU(),
                                 torch.nn.Linear(64, 5)).state_dict()
    x, labels = torch.randn(100, 20), torch.randint(5, (100,))
    for optimizer in (lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
                      lambda p: torch.optim.AdamW(p, lr=0.01)):
        losses, parameters = train("cuda", optimizer, states, x, labels)
        expected_losses, expected = train("cpu", optimizer, states, x, labels)
        assert losses[-1] < losses[0]
        assert all(abs(a - b) < 1e-4 for a, b in zip(losses, expected_losses))
        assert all((a - b).abs().max() < 1e-3 for a, b in zip(parameters, expected))
    print("right")


main()
