"""Reading and writing the single-file checkpoint: names, prefixes and precision."""
import os

import torch
from latents import colours_of, load_map
from safetensors.torch import load_file, save_file

PREFIX = {"unet": "model.diffusion_model.", "vae": "first_stage_model.", "text": "cond_stage_model.transformer.text_model."}


def load_parts(path):
    """The three state dicts of a checkpoint as float32: unet, vae, text."""
    tensors = load_file(path)
    return {part: {k[len(p):]: v.float() for k, v in tensors.items() if k.startswith(p)} for part, p in PREFIX.items()}


def save_parts(parts, path):
    """Write the three state dicts as one fp16 file, replacing an older file in one move."""
    out = {PREFIX[part] + k: v.to(torch.float16).contiguous() for part, state in parts.items() for k, v in state.items()}
    return save_marked(out, path)


def save_marked(out, path):
    """Write tensors with the mark that says how the latents look; float64 keeps what lies behind it aligned."""
    out = {**out, "latent_rgb": colours_of(*load_map())}
    temporary = path + ".part"
    save_file(out, temporary, metadata={"format": "pt"})
    os.chmod(temporary, 0o644)
    os.replace(temporary, path)
    return len(out), sum(v.numel() for v in out.values())
