"""The process that reads and splits files for an ingest. `engine.files.ingest.ahead` starts it.

It gets a list of files, and writes the items of each file to its standard output, in the order of the list.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
from io import BytesIO
from queue import Queue
from threading import Thread
from typing import BinaryIO, Final

from engine.files.ingest.messages import READY, decode_files, encode_items, send
from engine.files.ingest.read import read_file

_BLOCK_BYTES: Final = 64 << 10
"""The number of bytes that are collected before they are passed to the thread that writes them."""
_BLOCKS_MAX: Final = 64
"""The number of blocks that may wait to be written: the process is at most 4 MiB or one file ahead."""


def main(listed: bytes) -> None:
    """Read the files (`messages.encode_files`), and write a message for each to standard output.

    The message is null if reading the file raises an error. Then the ingest reads the file again, and raises
    the error itself.
    """
    # Ctrl-C reaches both processes. The ingest decides what happens then, and ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Parsing makes many small objects and hardly any cycles, so a search after every 700 objects is in vain.
    gc.freeze()
    gc.set_threshold(100_000)
    output = sys.stdout.buffer
    blocks: Queue[bytes] = Queue(_BLOCKS_MAX)
    writer = Thread(target=_write, args=(output, blocks), daemon=True)
    writer.start()
    blocks.put(READY)
    block = BytesIO()
    for file in decode_files(listed):
        try:
            message = encode_items(read_file(file))
        except Exception:  # noqa: BLE001 -- see above
            message = None
        send(block, message)
        if block.tell() >= _BLOCK_BYTES:
            blocks.put(block.getvalue())
            block = BytesIO()
    blocks.put(block.getvalue())
    blocks.put(b"")
    writer.join()


def _write(output: BinaryIO, blocks: Queue[bytes]) -> None:
    """Write the blocks until an empty block comes. If the ingest has ended, end this process."""
    try:
        while block := blocks.get():
            output.write(block)
            output.flush()
    except OSError:
        os._exit(1)
