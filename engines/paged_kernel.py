# pyright: basic, reportMissingImports=false
# Triton's own types are not known where it is not installed, and a kernel is a language of its own.
"""One step of attention over a paged key-value cache, as a Triton kernel: for each reply the one new token, over pages in any order.

PyTorch brings a flash kernel for whole sequences but, before 2.12, none that reads pages; Triton comes with every CUDA build of
PyTorch. So this needs no download. Query heads that share a key head are one small matrix product, so each page is read once
for all of them; few replies on a large GPU are split along their length and put together by a second kernel.

It writes the new key and value into the cache, reads only what was there before, and so needs no barrier. It knows nothing of
masks, windows or dropout, and works on heads of a power of two.
"""

from __future__ import annotations

from typing import Any, Final

import torch
import triton
import triton.language as tl

TILE: Final = 64  # keys per round: with 128 values per head 16 KB each of keys and values
MOST_SPLITS: Final = 16
PROGRAMS: Final = 264  # two for each of the 132 multiprocessors of an H200; a smaller GPU only gets more of them in turn


@triton.jit
def _attend(
    query,
    key_cache,
    value_cache,
    new_key,
    new_value,
    lengths,
    table,
    out,
    partial,
    highest,
    total,
    scale,
    table_stride,
    kv_heads: tl.constexpr,
    group: tl.constexpr,
    rows: tl.constexpr,
    width: tl.constexpr,
    page: tl.constexpr,
    tile: tl.constexpr,
    splits: tl.constexpr,
):
    reply = tl.program_id(0).to(tl.int64)
    head = tl.program_id(1)
    split = tl.program_id(2)
    length = tl.load(lengths + reply)  # tokens in the cache, without the new one; below 0 for a row of padding
    row = tl.arange(0, rows)
    column = tl.arange(0, width)
    own = row < group
    heads = kv_heads * group
    q = tl.load(query + (reply * heads + head * group + row)[:, None] * width + column[None, :], mask=own[:, None], other=0.0)
    new_at = (reply * kv_heads + head) * width + column
    new_k = tl.load(new_key + new_at)
    new_v = tl.load(new_value + new_at)
    if split == 0:
        # The new token attends to itself, from registers: nobody has to wait until it is in the cache.
        best = tl.sum(q.to(tl.float32) * new_k.to(tl.float32)[None, :], axis=1) * scale
        weight = tl.full([rows], 1.0, tl.float32)
        mixed = tl.zeros([rows, width], tl.float32) + new_v.to(tl.float32)[None, :]
        if length >= 0:
            slot = tl.load(table + reply * table_stride + length // page).to(tl.int64) * page + length % page
            at = (slot * kv_heads + head) * width + column
            tl.store(key_cache + at, new_k)
            tl.store(value_cache + at, new_v)
    else:
        best = tl.full([rows], float("-inf"), tl.float32)
        weight = tl.zeros([rows], tl.float32)
        mixed = tl.zeros([rows, width], tl.float32)
    share = tl.cdiv(tl.cdiv(length, tile), splits) * tile
    begin = split * share
    end = tl.minimum(begin + share, length)
    for first in range(begin, end, tile):
        token = first + tl.arange(0, tile)
        there = token < end
        pages = tl.load(table + reply * table_stride + token // page, mask=there, other=0).to(tl.int64)
        at = ((pages * page + token % page) * kv_heads + head)[:, None] * width + column[None, :]
        k = tl.load(key_cache + at, mask=there[:, None], other=0.0)
        score = tl.where(there[None, :], tl.dot(q, tl.trans(k)) * scale, float("-inf"))
        higher = tl.maximum(best, tl.max(score, axis=1))
        faded = tl.exp(best - higher)
        p = tl.exp(score - higher[:, None])
        v = tl.load(value_cache + at, mask=there[:, None], other=0.0)
        mixed = mixed * faded[:, None] + tl.dot(p.to(v.dtype), v)
        weight = weight * faded + tl.sum(p, axis=1)
        best = higher
    target = reply * heads + head * group + row
    if splits == 1:
        tl.store(
            out + target[:, None] * width + column[None, :],
            (mixed / weight[:, None]).to(out.dtype.element_ty),
            mask=own[:, None],
        )
    else:
        tl.store(partial + (target * splits + split)[:, None] * width + column[None, :], mixed, mask=own[:, None])
        tl.store(highest + target * splits + split, best, mask=own)
        tl.store(total + target * splits + split, weight, mask=own)


@triton.jit
def _join(partial, highest, total, out, width: tl.constexpr, splits: tl.constexpr):
    target = tl.program_id(0).to(tl.int64)
    part = tl.arange(0, splits)
    column = tl.arange(0, width)
    best = tl.load(highest + target * splits + part)
    share = tl.exp(best - tl.max(best, axis=0))  # the first part always holds the new token, so the maximum is a number
    weight = tl.sum(tl.load(total + target * splits + part) * share, axis=0)
    mixed = tl.load(partial + (target * splits + part)[:, None] * width + column[None, :])
    tl.store(out + target * width + column, (tl.sum(mixed * share[:, None], axis=0) / weight).to(out.dtype.element_ty))


def with_pages(
    q: Any,
    k_cache: Any,
    v_cache: Any,
    k: Any,
    v: Any,
    cache_seqlens: Any,
    softmax_scale: float,
    block_table: Any,
    **_: Any,
) -> Any:
    """Attention of one new token per reply. The names are those of flash-attn's `flash_attn_with_kvcache`, which callers use.

    `q` is [replies, 1, heads, width], `k` and `v` [replies, 1, key heads, width], the caches [pages, page, key heads, width];
    `cache_seqlens` and `block_table` are int32. Returns [replies, 1, heads, width]. The new keys and values are in the cache then.
    """
    replies, _one, heads, width = q.shape
    page, kv_heads = k_cache.shape[1], k_cache.shape[2]
    group = heads // kv_heads
    splits = 1
    while splits < MOST_SPLITS and replies * kv_heads * splits < PROGRAMS:
        splits *= 2
    out = torch.empty_like(q)
    shape = (replies * heads * splits,) if splits > 1 else (1,)
    partial = torch.empty((*shape, width), dtype=torch.float32, device=q.device)
    highest = torch.empty(shape, dtype=torch.float32, device=q.device)
    total = torch.empty(shape, dtype=torch.float32, device=q.device)
    attend: Any = _attend
    attend[(replies, kv_heads, splits)](
        q,
        k_cache,
        v_cache,
        k,
        v,
        cache_seqlens,
        block_table,
        out,
        partial,
        highest,
        total,
        softmax_scale,
        block_table.stride(0),
        kv_heads=kv_heads,
        group=group,
        rows=max(16, triton.next_power_of_2(group)),  # the least that the matrix units take
        width=width,
        page=page,
        tile=TILE,
        splits=splits,
        num_warps=4,
    )
    if splits > 1:
        join: Any = _join
        join[(replies * heads,)](partial, highest, total, out, width=width, splits=splits, num_warps=1)
    return out
