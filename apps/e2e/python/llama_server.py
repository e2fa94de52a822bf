"""A real model server for tests: llama.cpp's server with a tiny generated model of random weights.

Usage: llama_server.py FOLDER PORT CONTEXT
Prints its URL when it is ready. PORT 0 picks a free port. Responses are random text, but token counts, stop sequences,
limits, streaming, schemas, slots and errors are those of llama.cpp.
"""

import os
import sys
import time

import gguf
import numpy
import xllamacpp

EMBEDDING = 64
LAYERS = 2
HEADS = 4
FEED_FORWARD = 128
SLOTS = 2
SEED = 7
CHAT_TEMPLATE = "{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}assistant:"


def write_model(path: str, context: int) -> None:
    """Writes a two-layer llama model whose tokens are the bytes and the printable ASCII characters."""
    special = ["<unk>", "<s>", "</s>"]
    as_bytes = [f"<0x{byte:02X}>" for byte in range(256)]
    characters = ["\u2581"] + [chr(code) for code in range(33, 127)]
    tokens = special + as_bytes + characters
    kinds = (
        [gguf.TokenType.UNKNOWN, gguf.TokenType.CONTROL, gguf.TokenType.CONTROL]
        + [gguf.TokenType.BYTE] * len(as_bytes)
        + [gguf.TokenType.NORMAL] * len(characters)
    )
    random = numpy.random.default_rng(SEED)
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_name("tiny-random")
    writer.add_context_length(context)
    writer.add_embedding_length(EMBEDDING)
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(FEED_FORWARD)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(EMBEDDING // HEADS)
    writer.add_vocab_size(len(tokens))
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    writer.add_tokenizer_model("llama")
    writer.add_token_list(tokens)
    writer.add_token_scores([0.0] * len(tokens))
    writer.add_token_types(kinds)
    writer.add_bos_token_id(1)
    writer.add_eos_token_id(2)
    writer.add_unk_token_id(0)
    writer.add_add_bos_token(True)
    writer.add_chat_template(CHAT_TEMPLATE)

    def weights(name: str, *shape: int, scale: float) -> None:
        writer.add_tensor(name, (random.standard_normal(shape) * scale).astype(numpy.float32))

    def ones(name: str) -> None:
        writer.add_tensor(name, numpy.ones(EMBEDDING, numpy.float32))

    weights("token_embd.weight", len(tokens), EMBEDDING, scale=0.5)
    output = (random.standard_normal((len(tokens), EMBEDDING)) * 0.5).astype(numpy.float32)
    # Only printable characters are likely, so that a response is text and ends only at its limit.
    output[: len(special) + len(as_bytes)] = 0
    writer.add_tensor("output.weight", output)
    ones("output_norm.weight")
    for layer in range(LAYERS):
        prefix = f"blk.{layer}."
        ones(prefix + "attn_norm.weight")
        ones(prefix + "ffn_norm.weight")
        for name in ("attn_q", "attn_k", "attn_v", "attn_output"):
            weights(f"{prefix}{name}.weight", EMBEDDING, EMBEDDING, scale=0.1)
        weights(f"{prefix}ffn_gate.weight", FEED_FORWARD, EMBEDDING, scale=0.1)
        weights(f"{prefix}ffn_up.weight", FEED_FORWARD, EMBEDDING, scale=0.1)
        weights(f"{prefix}ffn_down.weight", EMBEDDING, FEED_FORWARD, scale=0.1)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    folder, port, context = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    path = os.path.join(folder, f"tiny-{os.getpid()}.gguf")
    write_model(path, context)
    params = xllamacpp.CommonParams()
    params.model.path = path
    params.port = port
    # Divided among the slots; each slot serves one request.
    params.n_ctx = context * SLOTS
    params.n_parallel = SLOTS
    params.cpuparams.n_threads = 1
    params.endpoint_slots = True
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    # The server runs in its own threads until the parent process closes the pipe.
    sys.stdin.read()
    del server
    time.sleep(0)


main()
