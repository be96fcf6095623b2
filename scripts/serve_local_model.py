"""Serves a GGUF file on loopback until it is told to stop: FILE PORT.

llama.cpp's own server, in this process; it speaks the OpenAI and Anthropic formats.
"""

import signal
import sys

import xllamacpp

path, port = sys.argv[1], int(sys.argv[2])

parameters = xllamacpp.CommonParams()
parameters.model.path = path
parameters.hostnames = ["127.0.0.1"]
parameters.port = port
# Eight thousand tokens for each of the two: what a chair has to read.
parameters.n_ctx = 16384
# Three seats ask at once; two share the machine well enough.
parameters.n_parallel = 2
parameters.cpuparams.n_threads = 1
parameters.use_jinja = True
server = xllamacpp.Server(parameters)

print(f"serving on {server.listening_address}", flush=True)
for name in (signal.SIGINT, signal.SIGTERM):
    signal.signal(name, lambda *_: sys.exit(0))
signal.pause()
