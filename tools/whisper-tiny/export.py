"""Turns what train.py saved into the folder test/fixtures/whisper-tiny: graphs and settings in the layout of Optimum.

Run: python3 export.py <folder of train.py> <folder to write>
Needs torch 2.13, transformers 4.57, optimum-onnx 0.1 and onnx; the project itself needs none of them.
Weights are stored in half precision, to which train.py rounded them, and all decoders share one file of them.
"""

import json
import os
import shutil
import sys
import tempfile

import numpy as np
import onnx
import torch
from onnx import TensorProto, external_data_helper, helper, numpy_helper
from optimum.exporters.onnx import main_export
from optimum.exporters.onnx.model_configs import WhisperOnnxConfig
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import GenerationConfig, WhisperForConditionalGeneration

import tones
import train

SHARED = "decoder_weights.bin"


class WithAttentions(WhisperOnnxConfig):
    """What the decoder looked at is an output too, as in the exports that are made for the times of words."""

    @property
    def outputs(self):
        named = super().outputs
        if self._behavior.value == "decoder":
            for layer in range(self._config.decoder_layers):
                named[f"cross_attentions.{layer}"] = {0: "batch_size", 2: "decoder_sequence_length"}
        return named


def special_names():
    names = ["<|endoftext|>", "<|startoftranscript|>"]
    names += [f"<|{code}|>" for code in tones.LANGUAGES]
    names += ["<|translate|>", "<|transcribe|>", "<|startoflm|>", "<|startofprev|>", "<|nospeech|>", "<|notimestamps|>"]
    return names


def write_tokenizer(folder):
    vocabulary = {c: i for i, c in enumerate(tones.ALPHABET.values())}
    for a, b in tones.MERGES:
        vocabulary[a + b] = len(vocabulary)
    tokenizer = Tokenizer(models.BPE(vocabulary, list(tones.MERGES)))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(name, special=True) for name in special_names()])
    times = [f"<|{i * 0.02:.2f}|>" for i in range(tones.TICKS + 1)]
    tokenizer.add_tokens([AddedToken(time, normalized=False) for time in times])
    assert tokenizer.token_to_id("<|endoftext|>") == tones.EOT
    assert tokenizer.token_to_id("<|nospeech|>") == tones.NO_SPEECH
    assert tokenizer.token_to_id(times[-1]) == tones.VOCABULARY - 1
    text = json.dumps(json.loads(tokenizer.to_str()), ensure_ascii=False, separators=(",", ":"))
    open(os.path.join(folder, "tokenizer.json"), "w").write(text)


def generation(heads):
    return GenerationConfig(
        decoder_start_token_id=tones.SOT,
        eos_token_id=tones.EOT,
        pad_token_id=tones.EOT,
        begin_suppress_tokens=[tones.ID[32], tones.EOT],
        suppress_tokens=[tones.ID[35], tones.START_OF_LM, tones.PREVIOUS, tones.NO_SPEECH],
        is_multilingual=True,
        lang_to_id={f"<|{code}|>": token for code, token in tones.LANGUAGE_ID.items()},
        task_to_id={"transcribe": tones.TRANSCRIBE, "translate": tones.TRANSLATE},
        no_timestamps_token_id=tones.NO_TIMESTAMPS,
        prev_sot_token_id=tones.PREVIOUS,
        max_initial_timestamp_index=250,
        max_length=96,
        return_timestamps=True,
        alignment_heads=heads,
    )


def alignment_heads(model):
    """The heads that look at a byte when they write it."""
    text = "the quick brown fox"
    audio = np.zeros(int(tones.WINDOW * tones.RATE), np.float32)
    spoken = tones.speak(text)
    audio[16000 : 16000 + len(spoken)] = spoken
    written = [tones.ID[b] for b in text.encode()]
    tokens = [tones.SOT, tones.LANGUAGE_ID["en"], tones.TRANSCRIBE, tones.FIRST_TIME + 50, tones.ID[32], *written]
    out = model(
        input_features=train.log_mel(torch.from_numpy(audio)[None]),
        decoder_input_ids=torch.tensor([tokens]),
        output_attentions=True,
    )
    found = []
    for layer, weights in enumerate(out.cross_attentions):
        for head, table in enumerate(weights[0]):
            near = [float(table[4 + i, 50 + 10 * i : 60 + 10 * i].sum()) for i in range(len(text)) if text[i] != " "]
            print("layer", layer, "head", head, "looks where it should:", round(float(np.mean(near)), 2))
            if np.mean(near) > 0.6:
                found.append([layer, head])
    return found


def shrink(path, shared):
    """Stores weights of many values by halves; `shared` (name of the values to their place) collects those of decoders."""
    graph = onnx.load(path)
    for part in [graph.graph, *subgraphs(graph.graph)]:
        casts = []
        known = {t.name: numpy_helper.to_array(t) for t in part.initializer if t.data_type == TensorProto.FLOAT}
        for tensor in list(part.initializer):
            if tensor.data_type != TensorProto.FLOAT:
                continue
            values = numpy_helper.to_array(tensor)
            if values.size < 64 or not np.array_equal(values.astype(np.float16).astype(np.float32), values):
                print("  whole:", tensor.name, values.shape) if values.size >= 64 else None
                continue
            name = tensor.name
            turned = [other for other, its in known.items() if its.ndim == 2 and np.array_equal(its.T, values)]
            if turned and values.size > 20000 and "embed" in turned[0]:  # the embedding, once more as the last layer
                part.initializer.remove(tensor)
                casts.append(helper.make_node("Transpose", [turned[0]], [name], perm=[1, 0]))
                continue
            half = numpy_helper.from_array(values.astype(np.float16), name + "_half")
            tensor.CopyFrom(half)
            casts.append(helper.make_node("Cast", [name + "_half"], [name], to=TensorProto.FLOAT))
            if shared is not None:
                place(tensor, shared)
        casts.sort(key=lambda node: node.op_type)
        nodes = [*casts, *part.node]
        del part.node[:]
        part.node.extend(nodes)
    for part in [graph.graph, *subgraphs(graph.graph)]:
        for node in part.node:
            node.doc_string = ""
            del node.metadata_props[:]
        del part.value_info[:]
    open(path, "wb").write(graph.SerializeToString())


def place(tensor, shared):
    raw = tensor.raw_data
    if raw not in shared:
        shared[raw] = sum(map(len, shared))
    external_data_helper.set_external_data(tensor, SHARED, offset=shared[raw], length=len(raw))
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL


def subgraphs(graph):
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                yield attribute.g
                yield from subgraphs(attribute.g)


def main(source, target):
    model = WhisperForConditionalGeneration.from_pretrained(source, attn_implementation="eager")
    model.config.suppress_tokens = model.config.begin_suppress_tokens = None
    model.generation_config = generation(alignment_heads(model) or None)
    work = tempfile.mkdtemp()
    model.save_pretrained(work)
    train.FEATURES.save_pretrained(work)
    write_tokenizer(work)
    out = os.path.join(work, "out")
    main_export(
        work,
        out,
        task="automatic-speech-recognition-with-past",
        model_kwargs={"output_attentions": True},
        custom_onnx_configs=custom(model.config),
        do_validation=False,
        nb_max_frames=2 * tones.TICKS,
    )
    print({name: os.path.getsize(os.path.join(out, name)) for name in os.listdir(out)})
    shutil.rmtree(target, ignore_errors=True)
    os.makedirs(target)
    shared = {}
    for name in sorted(os.listdir(out)):
        if name.endswith(".onnx"):
            shutil.copy(os.path.join(out, name), target)
            shrink(os.path.join(target, name), None if name.startswith("encoder") else shared)
    open(os.path.join(target, SHARED), "wb").write(b"".join(shared))
    for name in ["config.json", "generation_config.json", "preprocessor_config.json", "tokenizer.json"]:
        shutil.copy(os.path.join(work, name), target)
    preprocessor = os.path.join(target, "preprocessor_config.json")
    settings = json.load(open(preprocessor))
    settings.pop("mel_filters", None)
    json.dump(settings, open(preprocessor, "w"), indent=2)
    shutil.rmtree(work)


def custom(config):
    kinds = {"encoder_model": "encoder", "decoder_model": "decoder", "decoder_with_past_model": "decoder"}
    made = {}
    for name, kind in kinds.items():
        past = name == "decoder_with_past_model"
        base = WithAttentions(config, task="automatic-speech-recognition", use_past=kind == "decoder")
        made[name] = base.with_behavior(kind, use_past=kind == "decoder", use_past_in_inputs=past)
    return made


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
