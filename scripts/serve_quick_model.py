"""Serves a GGUF file on loopback until it is told to stop: FILE PORT.

OpenVINO reads a prompt four times as fast as llama.cpp does on a processor alone, and a gate reads
long prompts nine times per document. It brings no server; this one knows chat completions in
OpenAI's format, with or without a schema, and nothing else.
"""

import itertools
import json
import os
import queue
import signal
import sys
import threading
import traceback
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import openvino_genai as genai

# What a text, a list or a number may hold where the schema does not say. Up to so many numbers are
# spelled out.
TEXT_CHARS_MAX, ITEMS_MAX, DIGITS_MAX, SPELLED_OUT_MAX = 400, 8, 3, 10

CHARACTER = r'[^"\\\x00-\x1f\x7f] | "\\" ["\\/bfnrt]'


def grammar(schema):
    """The schema as a grammar without blanks: a small model fills any room that it is given."""
    return f"root ::= {expression(schema)}\ncharacter ::= {CHARACTER}\n"


def expression(node):
    if "enum" in node:
        return either(word(json.dumps(value, ensure_ascii=False)) for value in node["enum"])
    if "anyOf" in node:
        return either(map(expression, node["anyOf"]))
    kind = node["type"]
    if kind == "integer" and node.get("maximum", SPELLED_OUT_MAX + 1) <= SPELLED_OUT_MAX:
        return either(word(str(number)) for number in range(node.get("minimum", 0), node["maximum"] + 1))
    if isinstance(kind, list):
        return either(expression({**node, "type": one}) for one in kind)
    if kind == "object":
        fields = node.get("properties", {}).items()
        fields = (word(json.dumps(name) + ":") + " " + expression(field) for name, field in fields)
        return '"{" ' + ' "," '.join(fields) + ' "}"'
    if kind == "array":
        item, more = expression(node["items"]), node.get("maxItems", ITEMS_MAX) - 1
        return f'"[" ({item} ("," {item}){{0,{more}}})? "]"' if more else f'"[" ({item})? "]"'
    if kind == "string":
        return rf'"\"" character{{0,{node.get("maxLength", TEXT_CHARS_MAX)}}} "\""'
    simple = {
        "integer": f'("0" | [1-9] [0-9]{{0,{DIGITS_MAX - 1}}})',
        "number": f'("0" | [1-9] [0-9]{{0,{DIGITS_MAX - 1}}}) ("." [0-9] [0-9]?)?',
        "boolean": '("true" | "false")',
        "null": '"null"',
    }
    return simple[kind]


def either(options):
    return "(" + " | ".join(options) + ")"


def word(text):
    return json.dumps(text)


class Model:
    """One thread works on all requests that are open, a step at a time."""

    def __init__(self, path):
        rules = genai.SchedulerConfig()
        rules.cache_size = 1
        # Instructions that were read once are not read again.
        rules.enable_prefix_caching = True
        # In plain floats: left to itself it takes tile instructions (AMX) where the processor names
        # them, and a virtual machine may name them and then refuse them.
        plain = {"INFERENCE_PRECISION_HINT": "f32"}
        self.pipeline = genai.ContinuousBatchingPipeline(path, rules, "CPU", plain)
        self.tokenizer = self.pipeline.get_tokenizer()
        self.arrivals, self.numbers = queue.Queue(), itertools.count(1)
        threading.Thread(target=self.work, daemon=True).start()

    def answer(self, body):
        """The text, why it ends, and the tokens in and out."""
        prompt = self.tokenizer.apply_chat_template(body["messages"], add_generation_prompt=True)
        ended = queue.Queue()
        self.arrivals.put((prompt, self.settings(body), ended))
        output = ended.get()
        if isinstance(output, Exception):
            raise output
        tokens, text = output.generated_ids, self.tokenizer.decode(list(output.generated_ids))
        was_cut = output.finish_reason == genai.GenerationFinishReason.LENGTH
        read = self.tokenizer.encode(prompt).input_ids.shape[1]
        return text, "length" if was_cut else "stop", read, len(tokens)

    def settings(self, body):
        settings = genai.GenerationConfig()
        settings.set_eos_token_id(self.tokenizer.get_eos_token_id())
        # It is applied already.
        settings.apply_chat_template = False
        settings.max_new_tokens = body.get("max_tokens", 1024)
        settings.do_sample, settings.temperature = True, body.get("temperature", 0.8)
        settings.top_k, settings.top_p = 40, 0.95
        # Another throw of the dice for each, and the same in each run.
        settings.rng_seed = next(self.numbers)
        if "response_format" in body:
            schema = body["response_format"]["json_schema"]["schema"]
            settings.structured_output_config = genai.StructuredOutputConfig(grammar=grammar(schema))
        return settings

    def work(self):
        try:
            open_requests = []
            while True:
                open_requests += self.arrived(wait=not open_requests)
                if self.pipeline.has_non_finished_requests():
                    self.pipeline.step()
                open_requests = [one for one in open_requests if not self.is_ended(*one)]
        except Exception:
            # Nobody would be answered any more.
            traceback.print_exc()
            os._exit(1)

    def arrived(self, wait):
        while wait or not self.arrivals.empty():
            prompt, settings, ended = self.arrivals.get()
            try:
                handle = self.pipeline.add_request(next(self.numbers), prompt, settings)
                yield handle, ended
                wait = False
            except RuntimeError as error:
                ended.put(error)

    @staticmethod
    def is_ended(handle, ended):
        if handle.get_status() == genai.GenerationStatus.RUNNING:
            return False
        ended.put(handle.read_all()[0])
        return True


class Door(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        answers = {"/health": {"status": "ok"}, "/v1/models": {"data": [{"id": "smollm2"}]}}
        if self.path in answers:
            self.reply(200, answers[self.path])
        else:
            self.reply(404, {"error": {"message": "there is nothing here"}})

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        try:
            text, reason, read, written = self.server.model.answer(body)
        except Exception as error:
            traceback.print_exc()
            self.reply(400, {"error": {"message": str(error)}})
            return
        print(f"{read} tokens in, {written} out, {reason}: {text}", flush=True)
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}
        usage = {"prompt_tokens": read, "completion_tokens": written}
        self.reply(200, {"model": "smollm2", "choices": [choice], "usage": usage})

    def reply(self, status, document):
        data = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Each answer has its line already."""


path, port = sys.argv[1], int(sys.argv[2])
server = ThreadingHTTPServer(("127.0.0.1", port), Door)
server.daemon_threads = True
server.model = Model(path)
# A machine that cannot compute says so now, and not to the first who asks.
server.model.answer({"messages": [{"role": "user", "content": "Say yes."}], "max_tokens": 4})
print(f"serving on 127.0.0.1:{port}", flush=True)
for name in (signal.SIGINT, signal.SIGTERM):
    signal.signal(name, lambda *_: os._exit(0))
server.serve_forever()
