"""The child process around litellm, its protocol and its client."""
