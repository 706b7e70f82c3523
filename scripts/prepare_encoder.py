r"""Builds the files of the built-in encoder: `model.onnx` (the graph), `weights.bin` (mapped into memory), `vocab.txt.gz`.

In an environment of its own (Holdfast itself needs neither onnx nor torch):

    pip install "onnx==1.*" "onnxruntime==1.*" "numpy==2.*"
    python scripts/prepare_encoder.py WEIGHTS OUT_DIR --compare src/holdfast/adapters/embedders/holdfast-encoder

WEIGHTS is the quantised ONNX file that training writes (`quantize_dynamic`, per channel), or a .pt file with the float
weights (needs torch), with its `tokenizer.json` beside it. The graph is written by hand: loading takes time for every
node, and the exported graph has eleven times as many. It takes `input_ids` (int64, [1, tokens]), one text without
padding, and gives `emb` (mean of the tokens, unit length), `tokens` (64 values each, unit length) and `weights` (how
much a token counts in a question). The model began as all-MiniLM-L6-v2 (Apache-2.0), with more word pieces for other
languages.
"""

import gzip
import json
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx  # type: ignore[import-not-found]
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

HIDDEN, LAYERS, HEADS, TOKEN, LONGEST = 384, 6, 12, 64, 256
CLOSE = 0.99  # lowest cosine to the compared model; vectors differ by that much between versions of onnxruntime
SAMPLE = ([101, 2023, 2003, 1037, 3231, 102], [101, 7953, 2005, 1996, 7809, 102], [101, 3784, 102])
ALIGNED = 64  # bytes
SMALL = 1_024  # bytes: a smaller tensor stays in model.onnx
PARTS = {  # of a layer: their names here, and in the weights of a BERT
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "attended": "attention.output.dense",
    "inner": "intermediate.dense",
    "outer": "output.dense",
}
NORMS = {"attended_norm": "attention.output.LayerNorm", "outer_norm": "output.LayerNorm"}
Arrays = dict[str, np.ndarray]


def main() -> int:
    """Write the files and print how close the result is to another build; return 1 if it is not close."""
    parser = ArgumentParser(description="Build the files of the built-in encoder.")
    parser.add_argument("weights", type=Path, help="the quantised ONNX file that training writes, or a .pt file")
    parser.add_argument("out", type=Path, metavar="OUT_DIR", help="where the files go")
    parser.add_argument("--compare", type=Path, metavar="DIR", help="an earlier build to compare with")
    options = parser.parse_args()
    read = read_pt(options.weights) if options.weights.suffix == ".pt" else read_onnx(options.weights)
    options.out.mkdir(parents=True, exist_ok=True)
    write(Graph(arranged(read)), options.out)
    vocabulary = json.loads(options.weights.with_name("tokenizer.json").read_text(encoding="utf-8"))["model"]["vocab"]
    words = "\n".join(sorted(vocabulary, key=vocabulary.get)).encode()
    (options.out / "vocab.txt.gz").write_bytes(gzip.compress(words, mtime=0))
    if not options.compare:
        return 0
    pairs = zip(vectors(options.out / "model.onnx"), vectors(options.compare / "model.onnx"), strict=True)
    lowest = min(float(made @ before) for made, before in pairs)
    print(f"lowest cosine to {options.compare}: {lowest:.4f}")
    return 0 if lowest > CLOSE else 1


def read_pt(path: Path) -> Arrays:
    """Return the weights of a .pt file, its matrices quantised: int8 by column, embeddings uint8 as a whole."""
    import torch  # type: ignore[import-not-found]

    state = {name.removeprefix("m."): values.numpy() for name, values in torch.load(path, map_location="cpu").items()}
    found: Arrays = {}
    for name, values in state.items():
        if "embeddings." in name and values.ndim == 2:
            low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
            scale = np.array((high - low) / 255, dtype=np.float32)
            zero = np.array(round(-low / float(scale)), dtype=np.uint8)
            quantised = np.clip(np.rint(values / scale) + zero, 0, 255).astype(np.uint8)
            found |= {name: quantised, f"{name}_scale": scale, f"{name}_zero": zero}
        elif values.ndim == 2:
            scale = np.abs(values.T).max(axis=0).astype(np.float32) / np.float32(127)
            found |= {name: np.rint(values.T / scale).astype(np.int8), f"{name}_scale": scale}
        else:
            found[name] = values
    return found


def read_onnx(path: Path) -> Arrays:
    """Return the weights of a quantised export as they are, under the names they have in a .pt file.

    Matrices of linear layers are stored as anonymous constants, in the order of the layers; the names come from there.
    """
    stored = {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(path).graph.initializer}
    found: Arrays = {}
    for name, values in stored.items():
        plain = name.removeprefix("e.").removeprefix("m.")
        for ending, ours in (("_quantized", ""), ("_scale", "_scale"), ("_zero_point", "_zero")):
            plain = plain.removesuffix(ending) + ours if plain.endswith(ending) else plain
        found[plain] = values
    matrices = sorted((name for name in found if name.startswith("onnx::MatMul") and name[-1].isdecimal()), key=_order)
    targets = [f"encoder.layer.{layer}.{part}" for layer in range(LAYERS) for part in PARTS.values()] + ["proj", "imp"]
    for name, target in zip(matrices, targets, strict=True):
        if np.any(found[f"{name}_zero"]):
            raise ValueError(f"{target} is not quantised symmetrically")
        found |= {f"{target}.weight": found[name], f"{target}.weight_scale": found[f"{name}_scale"]}
    return found


def arranged(read: Mapping[str, np.ndarray]) -> Arrays:
    """Return the weights as the graph uses them: query, key and value as one matrix, the two heads as another."""
    found = {
        "words": read["embeddings.word_embeddings.weight"],
        "words_scale": read["embeddings.word_embeddings.weight_scale"],
        "words_zero": read["embeddings.word_embeddings.weight_zero"],
        "places": _floats(read, "position")[:LONGEST] + _floats(read, "token_type")[0],
        **_norm(read, "words_norm", "embeddings.LayerNorm"),
    }
    for layer in range(LAYERS):
        theirs = f"encoder.layer.{layer}"
        linear = {name: _linear(read, f"{theirs}.{part}") for name, part in PARTS.items()}
        found |= _joined(f"{layer}.attention", linear["query"], linear["key"], linear["value"])
        for name in ("attended", "inner", "outer"):
            found |= _joined(f"{layer}.{name}", linear[name])
        for ours, name in NORMS.items():
            found |= _norm(read, f"{layer}.{ours}", f"{theirs}.{name}")
    return found | _joined("heads", _linear(read, "proj"), _linear(read, "imp"))


class Graph:
    """The encoder as ONNX nodes; the operators of `com.microsoft` are part of every onnxruntime since 1.20."""

    def __init__(self, weights: Arrays) -> None:
        self.weights = dict(weights)
        self.nodes: list[Any] = []
        hidden = self._embedded()
        for layer in range(LAYERS):
            hidden = self._layer(f"{layer}", hidden)
        self._outputs(hidden)

    def _embedded(self) -> str:
        words = self._node("Gather", "words", "input_ids")
        words = self._node("DequantizeLinear", words, "words_scale", "words_zero")
        count = self._node("Shape", "input_ids", start=1)
        self.weights |= {"first": np.array([0]), "rows": np.array([0])}
        places = self._node("Slice", "places", "first", count, "rows")
        both = self._node("Add", words, places)
        return self._node("LayerNormalization", both, "words_norm.weight", "words_norm.bias", epsilon=1e-12)

    def _layer(self, layer: str, hidden: str) -> str:
        attention = f"{layer}.attention"
        bytes_, scale, zero = self._several("DynamicQuantizeLinear", hidden, outputs=3)
        attended = self._own(
            "QAttention",
            bytes_,
            f"{attention}.weight",
            f"{attention}.bias",
            scale,
            f"{attention}.scale",
            "",
            zero,
            num_heads=HEADS,
        )
        hidden = self._with_skipped(f"{layer}.attended_norm", self._linear(f"{layer}.attended", attended), hidden)
        inner = self._own("Gelu", self._linear(f"{layer}.inner", hidden))
        return self._with_skipped(f"{layer}.outer_norm", self._linear(f"{layer}.outer", inner), hidden)

    def _outputs(self, hidden: str) -> None:
        self.weights["head_sizes"] = np.array([TOKEN, 1])
        tokens, weight = self._several("Split", self._linear("heads", hidden), "head_sizes", outputs=2, axis=-1)
        self._node("LpNormalization", self._node("ReduceMean", hidden, axes=[1], keepdims=0), into="emb", axis=-1, p=2)
        self._node("LpNormalization", tokens, into="tokens", axis=-1, p=2)
        self._node("Softplus", weight, into="weights")

    def _linear(self, name: str, hidden: str) -> str:
        return self._own("DynamicQuantizeMatMul", hidden, f"{name}.weight", f"{name}.scale", "", f"{name}.bias")

    def _with_skipped(self, name: str, new: str, hidden: str) -> str:
        return self._own("SkipLayerNormalization", new, hidden, f"{name}.weight", f"{name}.bias", epsilon=1e-12)

    def _own(self, kind: str, *inputs: str, **attributes: Any) -> str:
        return self._node(kind, *inputs, domain="com.microsoft", **attributes)

    def _node(self, kind: str, *inputs: str, into: str = "", **attributes: Any) -> str:
        return self._add(kind, inputs, [into or f"{kind}_{len(self.nodes)}"], attributes)[0]

    def _several(self, kind: str, *inputs: str, outputs: int, **attributes: Any) -> list[str]:
        return self._add(kind, inputs, [f"{kind}_{len(self.nodes)}.{number}" for number in range(outputs)], attributes)

    def _add(self, kind: str, inputs: Sequence[str], outputs: list[str], attributes: Mapping[str, Any]) -> list[str]:
        self.nodes.append(helper.make_node(kind, list(inputs), outputs, name=f"{kind}_{len(self.nodes)}", **attributes))
        return outputs


def write(graph: Graph, folder: Path) -> None:
    """Write the graph, and beside it the weights, each large tensor at an aligned place."""
    tensors = [_tensor(name, values) for name, values in graph.weights.items()]
    with (folder / "weights.bin").open("wb") as file:
        for tensor in tensors:
            if len(tensor.raw_data) >= SMALL:
                file.write(bytes(-file.tell() % ALIGNED))
                place = {"location": "weights.bin", "offset": str(file.tell()), "length": str(len(tensor.raw_data))}
                file.write(tensor.raw_data)
                tensor.ClearField("raw_data")
                tensor.data_location = TensorProto.EXTERNAL
                for key, value in place.items():
                    tensor.external_data.add(key=key, value=value)
    whole = helper.make_graph(
        graph.nodes,
        "holdfast-encoder",
        [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])],
        [
            helper.make_tensor_value_info("emb", TensorProto.FLOAT, [1, HIDDEN]),
            helper.make_tensor_value_info("tokens", TensorProto.FLOAT, [1, "tokens", TOKEN]),
            helper.make_tensor_value_info("weights", TensorProto.FLOAT, [1, "tokens", 1]),
        ],
        tensors,
    )
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(whole, opset_imports=versions, ir_version=8, producer_name="prepare_encoder")
    (folder / "model.onnx").write_bytes(model.SerializeToString(deterministic=True))


def vectors(path: Path) -> list[np.ndarray]:
    """Return the vectors of the sample texts from a model, be it one with a mask."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    taken = {one.name for one in session.get_inputs()}
    made = []
    for text in SAMPLE:
        ids = np.array([text], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
        made.append(session.run(["emb"], {name: inputs[name] for name in taken})[0][0])
    return made


def _tensor(name: str, values: np.ndarray) -> Any:
    return numpy_helper.from_array(np.ascontiguousarray(values).reshape(values.shape), name)


def _floats(read: Mapping[str, np.ndarray], name: str) -> np.ndarray:
    full = f"embeddings.{name}_embeddings.weight"
    plain: np.ndarray = (read[full].astype(np.float32) - read[f"{full}_zero"]) * read[f"{full}_scale"]
    return plain


def _linear(read: Mapping[str, np.ndarray], name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return matrix, scales and bias of a linear layer."""
    scale = read[f"{name}.weight_scale"]
    return read[f"{name}.weight"], scale, read.get(f"{name}.bias", np.zeros_like(scale))


def _joined(name: str, *layers: tuple[np.ndarray, np.ndarray, np.ndarray]) -> Arrays:
    """Return linear layers of the same input as one."""
    weight, scale, bias = (np.concatenate(some, axis=-1) for some in zip(*layers, strict=True))
    return {f"{name}.weight": weight, f"{name}.scale": scale, f"{name}.bias": bias}


def _norm(read: Mapping[str, np.ndarray], ours: str, theirs: str) -> Arrays:
    return {f"{ours}.{part}": read[f"{theirs}.{part}"] for part in ("weight", "bias")}


def _order(name: str) -> int:
    return int(name.rsplit("_", 1)[-1])


if __name__ == "__main__":
    raise SystemExit(main())
