"""Plays against `plenary mcp` and `plenary serve` with the reference library.

  sdk.py PLAY DOOR VERSION…      in the folder that is served; $PLENARY is the program

Prints a line of JSON for each version; whatever is not as it should be is an exception.
"""

import asyncio
import contextlib
import faulthandler
import json
import os
import pathlib
import signal
import subprocess
import sys
from typing import Any, ClassVar, Literal

import httpx2
import mcp_types as types
import pydantic
from mcp import Client, StdioServerParameters
from mcp.client import ClientExtension, ResultClaim
from mcp.client.session import ClientSession
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

PLENARY = os.environ["PLENARY"]
PATIENCE_SECONDS = 60


class Stdio:
    """A server that the client starts, and that ends with it."""

    pid_file = pathlib.Path("server.pid")

    def transport(self):
        script = f'echo $$ >{self.pid_file}; exec "$0" mcp'
        return stdio_client(StdioServerParameters(command="/bin/sh", args=["-c", script, PLENARY]))

    def kill(self):
        os.kill(int(self.pid_file.read_text()), signal.SIGKILL)

    def close(self):
        pass


class Http:
    """A server that is there already, for those who know the token."""

    def __init__(self):
        self.process = subprocess.Popen(
            [PLENARY, "serve", "--port", "0"], stderr=subprocess.PIPE, text=True
        )
        try:
            self.url = self.announced("serving MCP on ")
            self.token = pathlib.Path(self.announced("the token is in ")).read_text()
        except BaseException:
            self.close()
            raise

    def announced(self, prefix):
        """The rest of the next line on stderr that begins so."""
        for line in self.process.stderr:
            if line.startswith(prefix):
                return line.removeprefix(prefix).strip()
        raise EOFError(f"the server ended before it said: {prefix}")

    @contextlib.asynccontextmanager
    async def transport(self):
        headers = {"Authorization": f"Bearer {self.token}"}
        async with httpx2.AsyncClient(headers=headers, timeout=PATIENCE_SECONDS) as http:
            async with streamable_http_client(self.url, http_client=http) as streams:
                yield streams

    def kill(self):
        self.process.kill()

    def close(self):
        self.process.kill()
        self.process.wait()


DOORS = {"stdio": Stdio, "http": Http}


@contextlib.asynccontextmanager
async def connected(door, version):
    """A session that speaks this version; `auto` is what the library itself agrees on."""
    if version not in HANDSHAKE_PROTOCOL_VERSIONS:
        async with Client(door.transport(), mode=version, cache=None) as client:
            yield client.session
        return
    async with door.transport() as streams, ClientSession(*streams) as session:
        # The library itself would only propose the newest of the versions that shake hands.
        params = types.InitializeRequestParams(
            protocol_version=version,
            capabilities=types.ClientCapabilities(),
            client_info=types.Implementation(name="sdk", version="0"),
        )
        greeted = await session.send_request(
            types.InitializeRequest(params=params), types.InitializeResult
        )
        session.adopt(greeted)
        await session.send_notification(types.InitializedNotification())
        yield session


async def call(session, tool, arguments, **more):
    """The document that a tool answers with; the text of a long one is shortened."""
    result = await session.call_tool(tool, arguments, **more)
    (block,) = result.content
    assert not result.is_error, block.text
    document = json.loads(block.text)
    if result.structured_content is None:
        return document
    if "note" not in document:
        assert result.structured_content == document, tool
    return result.structured_content


async def refused(session, tool, arguments):
    """The document of a refusal."""
    result = await session.call_tool(tool, arguments)
    assert result.is_error and result.structured_content is None, result
    return json.loads(result.content[0].text)


# The dialogue of the specification, from its first question to its minority verdict.

STEPS = [
    ("blue_dialogue_round_register", "02-round-0"),
    ("blue_dialogue_evolve_panel", "03-panel-1"),
    ("blue_dialogue_round_register", "04-round-1"),
    ("blue_dialogue_expert_create", "05-expert-palmier"),
    ("blue_dialogue_evolve_panel", "06-panel-2"),
    ("blue_dialogue_round_register", "07-round-2"),
    ("blue_dialogue_verdict_register", "08-verdict-final"),
    ("blue_dialogue_verdict_register", "09-verdict-minority"),
    ("blue_dialogue_verdict_register", "10-verdict-dissent"),
]


def example(name, dialogue_id):
    text = (pathlib.Path(os.environ["EXAMPLES"]) / f"{name}.json").read_text()
    return json.loads(text.replace("nvidia-investment-decision", dialogue_id))


async def play_dialogue(door, version):
    async with connected(door, version) as session:
        await look_around(session)
        created = await call(session, "blue_dialogue_create", example("01-create", ""))
        dialogue_id = created["dialogue_id"]
        assert "You are the Judge" in created["judge_protocol"]
        for tool, name in STEPS:
            answer = await call(session, tool, example(name, dialogue_id))
            assert answer["status"] == "success", answer
            if name == "06-panel-2":
                await hear_context(session, dialogue_id)
            if name == "04-round-1":
                assert answer["id_mapping"]["CUPCAKE-P0101"] == "P0102", answer
        await look_back(session, dialogue_id)
        exported = await call(session, "blue_dialogue_export", {"dialogue_id": dialogue_id})
        return {
            "version": session.protocol_version,
            "dialogue_id": dialogue_id,
            "path": exported["path"],
            "stats": exported["stats"],
        }


async def look_around(session):
    tools = (await session.list_tools()).tools
    assert len(tools) == 16, [tool.name for tool in tools]
    prompts = (await session.list_prompts()).prompts
    assert [prompt.name for prompt in prompts] == ["judge_protocol", "alignment_expert"]
    judge = await session.get_prompt("judge_protocol")
    assert "You are the Judge" in judge.messages[0].content.text
    assert len((await session.list_resource_templates()).resource_templates) == 3


async def hear_context(session, dialogue_id):
    context = await call(
        session, "blue_dialogue_round_context", {"dialogue_id": dialogue_id, "round": 2}
    )
    palmier = context["experts"]["palmier"]
    assert (palmier["source"], palmier["your_score"]) == ("created", 0), palmier
    assert len(context["prior_rounds"]) == 2
    assert any(tension["id"] == "T0003" for tension in context["active_tensions"])


async def look_back(session, dialogue_id):
    cited = await call(
        session,
        "blue_dialogue_search",
        {"op": "cite", "dialogue_id": dialogue_id, "ids": ["P0101", "P9999"]},
    )
    assert cited["citations"][0]["label"] == "Options viability confirmed", cited
    assert len(cited["errors"]) == 1
    progress = await call(session, "blue_dialogue_progress", {"dialogue_id": dialogue_id})
    assert (progress["status"], progress["estimated_rounds_remaining"]) == ("converged", 0)
    late = await refused(
        session, "blue_dialogue_round_register", example("07-round-2", dialogue_id) | {"round": 3}
    )
    assert "dialogue_closed" in json.dumps(late), late
    uri = f"plenary://dialogues/{dialogue_id}"
    listed = [str(resource.uri) for resource in (await session.list_resources()).resources]
    assert uri in listed, listed
    record = json.loads((await session.read_resource(uri)).contents[0].text)
    kinds = [verdict["type"] for verdict in record["verdicts"]]
    assert kinds == ["final", "minority", "dissent"], kinds
    transcript = (await session.read_resource(f"{uri}/transcript")).contents[0].text
    assert "NVIDIA Investment Decision" in transcript


# Councils.


class Heard:
    """What was told of a run on the way."""

    def __init__(self):
        self.messages = []
        self.steps = []
        self.first = asyncio.Event()

    async def __call__(self, progress, total, message):
        self.steps.append(progress)
        self.messages.append(message)
        self.first.set()


QUESTION = {"question": "Should reads go through a cache?"}


async def play_council(door, version):
    async with connected(door, version) as session:
        asked = QUESTION | {"rehearse": True}
        started = await call(session, "council_ask", asked)
        assert started["status"] in ("running", "done"), started
        polled = await until_stopped(session, started["dialogue_id"])
        assert (polled["status"], polled["result"]["rehearsal"]) == ("done", True), polled
        assert polled["result"]["conclusion"], polled

        heard = Heard()
        waited = await call(
            session, "council_ask", asked | {"wait_seconds": 60}, progress_callback=heard
        )
        assert waited["status"] == "done", waited
        assert heard.steps == sorted(set(heard.steps)) and len(heard.steps) >= 5, heard.steps
        uri = f"plenary://dialogues/{waited['dialogue_id']}/conclusion"
        conclusion = json.loads((await session.read_resource(uri)).contents[0].text)
        assert conclusion["terminal_state"] == waited["result"]["terminal_state"]
        return {"version": session.protocol_version, "heard": heard.messages}


async def until_stopped(session, dialogue_id):
    for _ in range(PATIENCE_SECONDS * 10):
        status = await call(session, "deliberation_status", {"dialogue_id": dialogue_id})
        if status["status"] != "running":
            return status
        await asyncio.sleep(0.1)
    raise TimeoutError(f"{dialogue_id} does not end")


async def begin_and_hear(session):
    """A call that waits for its council, which has begun."""
    heard = Heard()
    asked = QUESTION | {"wait_seconds": PATIENCE_SECONDS}
    waiting = asyncio.create_task(
        call(session, "council_ask", asked, progress_callback=heard)
    )
    first = asyncio.create_task(heard.first.wait())
    await asyncio.wait([waiting, first], return_when=asyncio.FIRST_COMPLETED)
    assert not waiting.done(), waiting
    return waiting


async def newest(session):
    listed = await call(session, "blue_dialogue_search", {"op": "list", "limit": 1})
    return listed["dialogues"][0]["dialogue_id"]


async def go_on(session, dialogue_id):
    resumed = await call(
        session,
        "deliberation_status",
        {"dialogue_id": dialogue_id, "resume": True, "wait_seconds": PATIENCE_SECONDS},
    )
    assert resumed["status"] == "done" and resumed["result"]["conclusion"], resumed
    return {"version": session.protocol_version, "dialogue_id": dialogue_id}


async def play_cancelled(door, version):
    async with connected(door, version) as session:
        waiting = await begin_and_hear(session)
        dialogue_id = await newest(session)
        waiting.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await waiting
        stopped = await until_stopped(session, dialogue_id)
        assert stopped["status"] == "interrupted", stopped
        return await go_on(session, dialogue_id)


async def play_killed(door, version):
    with contextlib.suppress(Exception):
        async with connected(door, version) as session:
            waiting = await begin_and_hear(session)
            dialogue_id = await newest(session)
            door.kill()
            waiting.cancel()
    door.close()
    door = type(door)()
    try:
        async with connected(door, version) as session:
            status = await call(session, "deliberation_status", {"dialogue_id": dialogue_id})
            assert status["status"] == "interrupted" and "resume" in status["suggestion"], status
            return await go_on(session, dialogue_id)
    finally:
        door.close()


# Tasks, as an extension: the library knows none, and lets its users bring their own.


class Task(types.Result):
    result_type: Literal["task"]
    task_id: str = pydantic.Field(alias="taskId")
    status: str


class Tasks(ClientExtension):
    identifier = "io.modelcontextprotocol/tasks"

    def claims(self):
        return [ResultClaim(result_type="task", model=Task, resolve=self.resolve)]

    async def resolve(self, task, context):
        """Polls a task to its end, as the library's users would."""
        while (seen := await get_task(context.session, task.task_id))["status"] == "working":
            await asyncio.sleep(seen["pollIntervalMs"] / 1000)
        assert seen["status"] == "completed", seen
        return types.CallToolResult.model_validate(seen["result"])


class GetTask(types.Request[dict[str, Any], Literal["tasks/get"]]):
    name_param: ClassVar[str | None] = "taskId"
    method: Literal["tasks/get"] = "tasks/get"
    params: dict[str, Any]


async def get_task(session, task_id):
    request = GetTask(params={"taskId": task_id})
    return await session.send_request(request, pydantic.TypeAdapter(dict[str, Any]))


async def play_tasks(door, version):
    async with Client(door.transport(), mode=version, extensions=[Tasks()]) as client:
        answered = await client.call_tool("council_ask", QUESTION | {"rehearse": True})
        document = answered.structured_content
        assert document["status"] == "done" and document["result"]["conclusion"], document
        task = await client.session.call_tool("council_ask", QUESTION, allow_claimed=True)
        assert isinstance(task, Task) and task.status == "working", task
        door.kill()
    door.close()
    door = type(door)()
    try:
        # The next server knows the task, which its own dialogue is; that goes on by its tool.
        async with Client(door.transport(), mode=version, extensions=[Tasks()]) as client:
            seen = await get_task(client.session, task.task_id)
            assert seen["status"] == "cancelled" and "resume" in seen["statusMessage"], seen
        async with connected(door, version) as session:
            return await go_on(session, task.task_id)
    finally:
        door.close()


PLAYS = {
    "dialogue": play_dialogue,
    "council": play_council,
    "cancelled": play_cancelled,
    "killed": play_killed,
    "tasks": play_tasks,
}


async def main():
    play, door, *versions = sys.argv[1:]
    for version in versions:
        opened = DOORS[door]()
        try:
            print(json.dumps(await PLAYS[play](opened, version)), flush=True)
        finally:
            opened.close()


# A call that blocks the event loop cannot be cancelled: print where it hangs, and exit.
faulthandler.dump_traceback_later(5 * PATIENCE_SECONDS, exit=True)
asyncio.run(asyncio.wait_for(main(), 4 * PATIENCE_SECONDS))
