"""MCP server, hooks, import and export: what milk gives to other programs and takes from them."""
