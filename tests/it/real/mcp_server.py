"""A model behind an MCP tool, for the real tests: it repeats what it is asked."""

import os

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("oracle")


@server.tool()
def consult(prompt: str) -> str:
    """Answers a prompt."""
    if prompt == "fail":
        raise ToolError("the oracle is asleep")
    return f"{os.environ['GREETING']}, {prompt}"


server.run("stdio")
