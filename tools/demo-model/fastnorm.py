"""Group normalisation for channels-last tensors: same result as torch's, several times faster to train on a CPU."""
import torch
import torch.nn as nn


class GroupNormFunction(torch.autograd.Function):
    """y = x * a + b with one a and one b per picture and channel, and the matching backward pass."""

    @staticmethod
    def forward(ctx, x, weight, bias, groups, eps):
        """Normalise; sums run over positions first, then over the channels of a group."""
        n, c, h, w = x.shape
        per, count = c // groups, h * w * (c // groups)
        rows = x.permute(0, 2, 3, 1).reshape(n, h * w, c)
        f = rows.float()
        mean = f.sum(1).view(n, groups, per).sum(2) / count
        square = (f * f).sum(1).view(n, groups, per).sum(2) / count
        inverse = (square - mean * mean).clamp(min=0).add(eps).rsqrt()
        mean, inverse = mean.repeat_interleave(per, 1), inverse.repeat_interleave(per, 1)
        a = inverse * weight
        y = torch.addcmul((bias - mean * a)[:, None], f, a[:, None]).to(x.dtype)
        ctx.save_for_backward(rows, weight, mean, inverse)
        ctx.groups, ctx.shape = groups, (n, c, h, w)
        return y.view(n, h, w, c).permute(0, 3, 1, 2)

    @staticmethod
    def backward(ctx, grad):
        """dx = inverse * (g * weight - mean(g * weight) - xhat * mean(g * weight * xhat)), as one multiply-add of x and g."""
        rows, weight, mean, inverse = ctx.saved_tensors
        n, c, h, w = ctx.shape
        per, count = c // ctx.groups, h * w * (c // ctx.groups)
        g, f = grad.permute(0, 2, 3, 1).reshape(n, h * w, c).float(), rows.float()
        g_sum = g.sum(1)
        g_hat = ((g * f).sum(1) - mean * g_sum) * inverse
        first = (g_sum * weight).view(n, ctx.groups, per).sum(2).repeat_interleave(per, 1) / count
        second = (g_hat * weight).view(n, ctx.groups, per).sum(2).repeat_interleave(per, 1) / count
        slope = -inverse * inverse * second
        shift = -inverse * first - slope * mean
        dx = torch.addcmul(torch.addcmul(shift[:, None], f, slope[:, None]), g, (inverse * weight)[:, None])
        return dx.to(grad.dtype).view(n, h, w, c).permute(0, 3, 1, 2), g_hat.sum(0), g_sum.sum(0), None, None


class FastGroupNorm(nn.GroupNorm):
    """nn.GroupNorm with the same parameters that uses the function above."""

    def forward(self, x):
        """Normalise x."""
        return GroupNormFunction.apply(x, self.weight, self.bias, self.num_groups, self.eps)
