def linear(a, b):
    assert a.shape[-1] == b.shape[-1]


def scaled_dot_product_attention(q, k, v, is_causal):
    assert q.shape == k.shape == v.shape and len(q.shape) == 4 and is_causal


def layer_norm(x, shape, weight):
    assert x.shape[-1:] == tuple(shape) == weight.shape


def silu(x):
    assert x.shape
