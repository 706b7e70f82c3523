r"""Builds the ONNX file of the built-in encoder from float weights, or from an ONNX file whose weights it reads back.

In an environment of its own (Holdfast itself needs none of torch, transformers and onnx):

    pip install "torch==2.13.*" "transformers==5.*" "onnx==1.*" "onnxruntime==1.*" "numpy==2.*"
    python scripts/prepare_encoder.py WEIGHTS OUT_DIR --compare src/holdfast/adapters/embedders/holdfast-encoder

WEIGHTS is a .pt file with the state of `Encoder` below, or a model.onnx of an earlier build. The model takes
`input_ids` and `attention_mask` (int64, [batch, tokens]) and gives `emb` (mean of the tokens, unit length), `tokens`
(64 values each, unit length) and `weights` (how much a token counts in a question). It began as all-MiniLM-L6-v2
(Apache-2.0), with more word pieces for other languages.
"""

from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import onnx  # type: ignore[import-not-found]
import onnxruntime
import torch  # type: ignore[import-not-found]
import torch.nn.functional as F  # type: ignore[import-not-found]  # noqa: N812
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import BertConfig, BertModel  # type: ignore[import-not-found]

VOCABULARY, HIDDEN, LAYERS, HEADS, INNER, TOKEN = 50_598, 384, 6, 12, 1_536, 64
CLOSE = 0.97  # mean cosine to the compared model below which the result is of no use
SAMPLE = ([101, 2023, 2003, 1037, 3231, 102], [101, 7953, 2005, 1996, 7809, 102])


class Encoder(torch.nn.Module):  # type: ignore[misc]
    """A BERT that gives the mean of its tokens, a short vector of each, and how much each counts."""

    def __init__(self) -> None:
        super().__init__()
        config = BertConfig(
            vocab_size=VOCABULARY,
            hidden_size=HIDDEN,
            num_hidden_layers=LAYERS,
            num_attention_heads=HEADS,
            intermediate_size=INNER,
            attn_implementation="eager",
        )
        self.m = BertModel(config, add_pooling_layer=False)
        self.proj = torch.nn.Linear(HIDDEN, TOKEN, bias=False)
        self.imp = torch.nn.Linear(HIDDEN, 1)

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Encode a batch padded on the right."""
        # A mask of four dimensions is taken as it is; a plain one draws the library's own mask code into the graph.
        mask = (1.0 - attention_mask[:, None, None, :].float()) * -1e9
        hidden = self.m(input_ids=input_ids, attention_mask=mask).last_hidden_state
        real = attention_mask[..., None].float()
        pooled = (hidden * real).sum(1) / real.sum(1).clamp(min=1)
        weights = F.softplus(self.imp(hidden)).squeeze(-1) * real[..., 0]
        return F.normalize(pooled, dim=-1), F.normalize(self.proj(hidden), dim=-1), weights


def main() -> int:
    """Write model.onnx and print how close it is to another build; return 1 if it is not close."""
    parser = ArgumentParser(description="Build the ONNX file of the built-in encoder.")
    parser.add_argument("weights", type=Path, help="a .pt file, or the model.onnx of an earlier build")
    parser.add_argument("out", type=Path, metavar="OUT_DIR", help="where model.onnx goes")
    parser.add_argument("--compare", type=Path, metavar="DIR", help="an earlier build to compare with")
    options = parser.parse_args()
    encoder = Encoder()
    read = read_onnx(options.weights) if options.weights.suffix == ".onnx" else torch.load(options.weights)
    encoder.load_state_dict(read, strict=options.weights.suffix != ".onnx")
    options.out.mkdir(parents=True, exist_ok=True)
    write(encoder.eval(), options.out / "model.onnx")
    if not options.compare:
        return 0
    mean = float(np.mean(vectors(options.out / "model.onnx") * vectors(options.compare / "model.onnx"))) * HIDDEN
    print(f"cosine to {options.compare}: {mean:.4f}")
    return 0 if mean > CLOSE else 1


def read_onnx(path: Path) -> dict[str, torch.Tensor]:
    """Return the float weights of a quantised model: each int8 tensor times its scales.

    Matrices of linear layers are stored as anonymous constants, in the order of the layers; the names come from there.
    """
    stored = {one.name: onnx.numpy_helper.to_array(one) for one in onnx.load(path).graph.initializer}
    floats: dict[str, np.ndarray] = {}
    for name, values in stored.items():
        base = name.removesuffix("_quantized")
        if base != name:
            scale, zero = stored[f"{base}_scale"], stored[f"{base}_zero_point"]
            floats[base] = (values.astype(np.float32) - zero.astype(np.float32)) * scale
        elif not name.endswith(("_scale", "_zero_point")):
            floats[name] = values
    named = {name.removeprefix("e."): values for name, values in floats.items() if "." in name and "::" not in name}
    matrices = [floats[name] for name in sorted(floats, key=_order) if name.startswith("onnx::MatMul")]
    targets = [
        f"m.encoder.layer.{layer}.{part}.weight"
        for layer in range(LAYERS)
        for part in (
            "attention.self.query",
            "attention.self.key",
            "attention.self.value",
            "attention.output.dense",
            "intermediate.dense",
            "output.dense",
        )
    ]
    targets += ["proj.weight", "imp.weight"][: len(matrices) - len(targets)]
    named |= {target: matrix.T for target, matrix in zip(targets, matrices, strict=True)}
    return {name: torch.from_numpy(np.ascontiguousarray(values)) for name, values in named.items()}


def write(encoder: Encoder, path: Path) -> None:
    """Write the model with int8 weights."""
    ids = torch.tensor(SAMPLE)
    axes = {0: "batch", 1: "tokens"}
    with TemporaryDirectory() as scratch:
        exported = Path(scratch) / "model.onnx"
        torch.onnx.export(
            encoder,
            (ids, torch.ones_like(ids)),
            exported,
            input_names=["input_ids", "attention_mask"],
            output_names=["emb", "tokens", "weights"],
            dynamic_axes={
                "input_ids": axes,
                "attention_mask": axes,
                "emb": {0: "batch"},
                "tokens": axes,
                "weights": axes,
            },
            opset_version=17,
            dynamo=False,
        )
        kinds = ["MatMul", "Gather"]
        quantize_dynamic(exported, path, op_types_to_quantize=kinds, per_channel=True, weight_type=QuantType.QInt8)


def vectors(path: Path) -> np.ndarray:
    """Return the vectors of the sample texts from a model."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    ids = np.array(SAMPLE, dtype=np.int64)
    made: np.ndarray = session.run(["emb"], {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0]
    return made


def _order(name: str) -> int:
    number = name.rsplit("_", 1)[-1]
    return int(number) if number.isdecimal() else -1


if __name__ == "__main__":
    raise SystemExit(main())
