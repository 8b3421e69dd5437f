"""A linear-chain CRF: learned scores of transitions between labels."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class ChainHead(nn.Module):
    """Learned scores of transitions, initially zero."""

    def __init__(self, labels: int) -> None:
        super().__init__()
        self.between = nn.Parameter(torch.zeros(labels, labels))  # from, to
        self.start = nn.Parameter(torch.zeros(labels))
        self.end = nn.Parameter(torch.zeros(labels))

    def loss(
        self, scores: Tensor, targets: Tensor, mask: Tensor, starts: Tensor, ends: Tensor
    ) -> Tensor:
        """The mean negative log-likelihood of the targets per word.

        ``scores`` is (batch, words, labels); ``mask`` (batch, words) is true for words and false
        for padding after them. ``starts`` and ``ends`` (batch) are true for rows that begin or end
        their document. Other rows begin or end within it, so they say nothing about start and end.
        """
        start, end = starts.float()[:, None] * self.start, ends.float()[:, None] * self.end
        scores = scores.float()
        batch, length, _ = scores.shape
        rows = torch.arange(batch, device=scores.device)
        there = mask.to(scores.dtype)
        picked = scores.gather(2, targets[:, :, None]).squeeze(2)
        path = (picked * there).sum(1) + start[rows, targets[:, 0]]
        steps = self.between[targets[:, :-1], targets[:, 1:]]
        path = path + (steps * there[:, 1:]).sum(1)
        last = mask.sum(1) - 1
        path = path + end[rows, targets[rows, last]]
        forward = start + scores[:, 0]
        for i in range(1, length):
            onward = torch.logsumexp(forward[:, :, None] + self.between, dim=1) + scores[:, i]
            forward = torch.where(mask[:, i, None], onward, forward)
        total = torch.logsumexp(forward + end, dim=1)
        return (total - path).sum() / there.sum()
