"""Write the classifier as ONNX: a graph by hand that shares the encoder's table of word vectors, and a file with the rest.

The graph takes one text, or two, without padding: `task` (its number), `input_ids` (A [SEP] B [SEP], without a first
token: the task stands there) and `segments` (0 for the task and A, 1 for B), and gives the scores of every task's classes.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx  # type: ignore[import-not-found]
from onnx import TensorProto, helper, numpy_helper

from classifier.labels import TASKS

HIDDEN, LAYERS, HEADS, LONGEST = 384, 6, 12, 256
ALIGNED, SMALL = 64, 1_024  # bytes: of tensors in a file; a smaller tensor stays in the graph
Arrays = dict[str, np.ndarray]


def stored_weights(folder: Path, name: str = "model.onnx") -> Arrays:
    """Return a model's weights as they are stored, by the names of the graph."""
    return {tensor.name: numpy_helper.to_array(tensor) for tensor in onnx.load(folder / name).graph.initializer}


def encoder_weights(folder: Path) -> Arrays:
    """Return the encoder's weights as floats, under the names of the graph: what training begins with."""
    stored = stored_weights(folder)
    found: Arrays = {"words": (stored["words"].astype(np.float32) - stored["words_zero"]) * stored["words_scale"]}
    for name, values in stored.items():
        if (
            name.endswith(".weight")
            and f"{name.removesuffix('weight')}scale" in stored
            and not name.startswith("heads")
        ):
            found[name] = values.astype(np.float32) * stored[f"{name.removesuffix('weight')}scale"]
        elif name.endswith(".bias") or "norm." in name or name == "places":
            found[name] = values.astype(np.float32)
    return {name: values for name, values in found.items() if not name.startswith("heads")}


def blended(weights: Arrays, others: Arrays, share: float) -> Arrays:
    """Return weights with a share of other ones of the same names in each."""
    return {name: values + share * (others[name] - values) for name, values in weights.items()}


def export(weights: Mapping[str, np.ndarray], encoder: Path, into: Path) -> None:
    """Write `classifier.onnx` and `classifier.bin` beside the encoder's files; the word table stays in `weights.bin`."""
    table = next(
        tensor
        for tensor in onnx.load(encoder / "model.onnx", load_external_data=False).graph.initializer
        if tensor.name == "words"
    )
    scale, zero = (
        numpy_helper.to_array(tensor)
        for name in ("words_scale", "words_zero")
        for tensor in onnx.load(encoder / "model.onnx", load_external_data=False).graph.initializer
        if tensor.name == name
    )
    graph = _Graph(
        {name: values for name, values in weights.items() if name != "words"}
        | {"words_scale": scale, "words_zero": zero}
    )
    tensors = [table]
    into.mkdir(parents=True, exist_ok=True)
    with (into / "classifier.bin").open("wb") as file:
        for name, values in graph.weights.items():
            tensor = numpy_helper.from_array(np.ascontiguousarray(values).reshape(values.shape), name)
            if len(tensor.raw_data) >= SMALL:
                file.write(bytes(-file.tell() % ALIGNED))
                place = {"location": "classifier.bin", "offset": str(file.tell()), "length": str(len(tensor.raw_data))}
                file.write(tensor.raw_data)
                tensor.ClearField("raw_data")
                tensor.data_location = TensorProto.EXTERNAL
                for key, value in place.items():
                    tensor.external_data.add(key=key, value=value)
            tensors.append(tensor)
    whole = helper.make_graph(
        graph.nodes,
        "holdfast-classifier",
        [
            helper.make_tensor_value_info("task", TensorProto.INT64, [1, 1]),
            helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"]),
            helper.make_tensor_value_info("segments", TensorProto.INT64, [1, "places"]),
        ],
        [helper.make_tensor_value_info(task, TensorProto.FLOAT, [1, len(labels)]) for task, labels in TASKS.items()],
        tensors,
    )
    versions = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(whole, opset_imports=versions, ir_version=8, producer_name="holdfast")
    (into / "classifier.onnx").write_bytes(model.SerializeToString(deterministic=True))


class _Graph:
    """The network as ONNX nodes; the operators of `com.microsoft` are part of every onnxruntime since 1.20."""

    def __init__(self, weights: Arrays) -> None:
        self.weights = {name: values for name, values in weights.items() if values.ndim != 2 or not _is_quantised(name)}
        for name in (name for name in weights if weights[name].ndim == 2 and _is_quantised(name)):
            scale = np.abs(weights[name]).max(axis=0).astype(np.float32) / np.float32(127)
            self.weights[name] = np.rint(weights[name] / scale).astype(np.int8)
            self.weights[f"{name.removesuffix('weight')}scale"] = scale
        self.nodes: list[Any] = []
        hidden = self._embedded()
        for layer in range(LAYERS):
            hidden = self._layer(f"{layer}", hidden)
        self._outputs(hidden)

    def _embedded(self) -> str:
        words = self._node("Gather", "words", "input_ids")
        words = self._node("DequantizeLinear", words, "words_scale", "words_zero")
        whole = self._node("Concat", self._node("Gather", "tasks", "task"), words, axis=1)
        count = self._node("Shape", "segments", start=1)
        self.weights |= {"first": np.array([0]), "rows": np.array([0])}
        places = self._node("Slice", "places", "first", count, "rows")
        both = self._node("Add", self._node("Add", whole, places), self._node("Gather", "segment_vectors", "segments"))
        return self._node("LayerNormalization", both, "words_norm.weight", "words_norm.bias", epsilon=1e-12)

    def _layer(self, layer: str, hidden: str) -> str:
        attention = f"{layer}.attention"
        bytes_, scale, zero = self._several("DynamicQuantizeLinear", hidden, outputs=3)
        given = (bytes_, f"{attention}.weight", f"{attention}.bias", scale, f"{attention}.scale", "", zero)
        attended = self._node("QAttention", *given, domain="com.microsoft", num_heads=HEADS)
        hidden = self._with_skipped(f"{layer}.attended_norm", self._linear(f"{layer}.attended", attended), hidden)
        inner = self._node("Gelu", self._linear(f"{layer}.inner", hidden), domain="com.microsoft")
        return self._with_skipped(f"{layer}.outer_norm", self._linear(f"{layer}.outer", inner), hidden)

    def _outputs(self, hidden: str) -> None:
        self.weights |= {"zero": np.array(0)}
        first = self._node("Gather", hidden, "zero", axis=1)
        both = self._node("Concat", first, self._node("ReduceMean", hidden, axes=[1], keepdims=0), axis=-1)
        for task in TASKS:
            self._node("Gemm", both, f"head.{task}.weight", f"head.{task}.bias", into=task)

    def _linear(self, name: str, hidden: str) -> str:
        given = (hidden, f"{name}.weight", f"{name}.scale", "", f"{name}.bias")
        return self._node("DynamicQuantizeMatMul", *given, domain="com.microsoft")

    def _with_skipped(self, name: str, new: str, hidden: str) -> str:
        given = (new, hidden, f"{name}.weight", f"{name}.bias")
        return self._node("SkipLayerNormalization", *given, domain="com.microsoft", epsilon=1e-12)

    def _node(self, kind: str, *inputs: str, into: str = "", **attributes: Any) -> str:
        name = into or f"{kind}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, list(inputs), [name], name=f"{kind}_{len(self.nodes)}", **attributes))
        return name

    def _several(self, kind: str, *inputs: str, outputs: int) -> list[str]:
        names = [f"{kind}_{len(self.nodes)}.{number}" for number in range(outputs)]
        self.nodes.append(helper.make_node(kind, list(inputs), names, name=f"{kind}_{len(self.nodes)}"))
        return names


def _is_quantised(name: str) -> bool:
    return name[0].isdigit() and name.endswith(".weight") and "norm" not in name
