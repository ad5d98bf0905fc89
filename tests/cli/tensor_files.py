"""Writes tensor files, good and bad, for the tests of the command line program."""

import json
import math
import struct

FORMATS = {"<f4": "f", "<f2": "e", "<f8": "d", "<i4": "i", "<i8": "q", "|i1": "b", "|u1": "B", "|b1": "?"}


def npy_header(descr, shape, fortran=False):
    text = f"{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape!r}, }}"
    text += " " * (-(10 + len(text) + 1) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text.encode("latin-1")


def npy(descr, shape, values):
    """The bytes of an .npy file of format 1.0. `values` may be shorter than the tensor; it is repeated."""
    count = math.prod(shape)
    values = [values[i % len(values)] for i in range(count)]
    return npy_header(descr, shape) + struct.pack(f"<{count}{FORMATS[descr]}", *values)


def safetensors(tensors):
    """`tensors`: name -> (dtype name, shape, bytes)."""
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data
