"""llama.cpp's server on loopback, with a model of two layers whose weights are random.

It reads and writes bytes, answers within a second, and says nothing sensible: but by the grammar of
a schema, its answers are JSON of this schema. ``python -m tests.llm.real_server MODEL PORT`` serves
until it is stopped. A model of your own, as GGUF, is ``LAWFUL_GGUF``.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from tests.command_line import ROOT

WIDE, LAYERS, CONTEXT = 64, 2, 8192


def write_model(path, seed=0):
    """Writes the model; its tokens are bytes."""
    from gguf import GGUFWriter

    random = np.random.default_rng(seed)
    tokens = ["<unk>", "<s>", "</s>", *(f"<0x{i:02X}>" for i in range(256))]
    file = GGUFWriter(path, "llama")
    file.add_context_length(4 * CONTEXT)
    file.add_embedding_length(WIDE)
    file.add_block_count(LAYERS)
    file.add_feed_forward_length(2 * WIDE)
    file.add_head_count(4)
    file.add_head_count_kv(4)
    file.add_layer_norm_rms_eps(1e-5)
    file.add_rope_dimension_count(WIDE // 4)
    file.add_vocab_size(len(tokens))
    file.add_tokenizer_model("llama")
    file.add_token_list(tokens)
    file.add_token_scores([0.0] * len(tokens))
    file.add_token_types([2, 3, 3, *[6] * 256])
    file.add_bos_token_id(1)
    file.add_eos_token_id(2)
    file.add_unk_token_id(0)
    file.add_add_space_prefix(False)

    def random_weights(name, *shape):
        weights = random.normal(size=shape) / np.sqrt(shape[-1])
        file.add_tensor(f"{name}.weight", weights.astype(np.float32))

    def ones(name):
        file.add_tensor(f"{name}.weight", np.ones(WIDE, np.float32))

    random_weights("token_embd", len(tokens), WIDE)
    random_weights("output", len(tokens), WIDE)
    ones("output_norm")
    for layer in (f"blk.{i}." for i in range(LAYERS)):
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            random_weights(layer + name, WIDE, WIDE)
        for name in ("ffn_gate", "ffn_up"):
            random_weights(layer + name, 2 * WIDE, WIDE)
        random_weights(layer + "ffn_down", WIDE, 2 * WIDE)
        ones(layer + "attn_norm")
        ones(layer + "ffn_norm")
    file.write_header_to_file()
    file.write_kv_data_to_file()
    file.write_tensors_to_file()
    file.close()


@contextmanager
def serving_model(folder):
    """The address of a server, until the block ends."""
    model = Path(os.environ.get("LAWFUL_GGUF") or folder / "tiny.gguf")
    if not model.is_file():
        write_model(model)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "server.log"
    with log.open("wb") as out:
        server = subprocess.Popen(
            [sys.executable, "-m", "tests.llm.real_server", model.name, str(port)],
            cwd=model.parent, env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=out, stderr=out,
        )  # fmt: skip
    try:
        wait_for(f"http://127.0.0.1:{port}/health", server, log)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.kill()
        server.wait()


def wait_for(url, server, log, seconds=120):
    end = time.monotonic() + seconds
    while time.monotonic() < end and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):  # noqa: S310 - on loopback
                return
        except OSError:
            time.sleep(0.1)
    raise AssertionError(f"the server did not start: {log.read_text(errors='replace')[-2000:]}")


def main():
    import xllamacpp

    found = xllamacpp.CommonParams()
    found.model.path, found.port = sys.argv[1], int(sys.argv[2])
    found.n_ctx, found.n_parallel, found.cpuparams.n_threads = CONTEXT, 2, 1
    server = xllamacpp.Server(found)
    print(server.listening_address, flush=True)
    while True:
        time.sleep(1)


if __name__ == "__main__":
    main()
