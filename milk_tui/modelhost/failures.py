"""What went wrong, in words and kinds that the screen can act on, from whatever litellm raised.

litellm hides much: a refused connection comes as an internal server error, 403 as a bare API error, a cut
stream and broken JSON as the same fallback error. So the whole chain of causes is looked at, by class name,
since importing those classes is what the host avoids until it has to.
"""

from __future__ import annotations

import ast
import email.utils
import json
import math
import re
import ssl
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from milk_tui.core.records import ErrorKind
from milk_tui.core.text import one_line
from milk_tui.modelhost.protocol import CompleteRequest, Failed
from milk_tui.modelhost.redact import Redactor

_SAID = 240
"""Characters of what the server said that are shown."""

_TOO_LONG = re.compile(
    r"(?i)context[ _](?:length|window|size)|maximum context|(?:prompt|input) is too long|too many tokens"
    r"|exceeds? the (?:available|maximum|model'?s?).{0,30}(?:context|tokens)|reduce the length"
)
_NO_MODEL = re.compile(
    r"(?i)model\b.{0,80}\b(?:not found|does ?n[o']t exist|not exist|unknown)|unknown model|no such model"
)
_NO_KEY = re.compile(r"(?i)missing (?:credentials|.{0,20}api key)|api[_ ]key.{0,30}must be set|no api key")
_NO_PROVIDER = re.compile(r"(?i)LLM Provider NOT provided")
_PREFIXES = re.compile(r"^(?:(?:litellm\.)?\w*(?:Error|Exception|Timeout)\b[:.\s-]*)+")
_TAIL = re.compile(r"\s*(?:Handle with `litellm\.\w+`\.?|Original exception:.*)$", re.DOTALL)

_CONNECTING = {"ConnectionRefusedError", "gaierror", "ConnectTimeout", "ConnectError", "ClientConnectorError"}
_BREAKING = {
    "ReadError",
    "RemoteProtocolError",
    "ClientPayloadError",
    "ServerDisconnectedError",
    "ConnectionResetError",
    "IncompleteRead",
    "TransferEncodingError",
    "WriteError",
}
_UNREADABLE = {
    "JSONDecodeError",
    "APIResponseValidationError",
    "UnicodeDecodeError",
}
_NO_TLS = {"ClientConnectorSSLError", "ClientConnectorCertificateError", "SSLError", "SSLCertVerificationError"}
_NO_HTTP = {"BadHttpMessage", "BadStatusLine", "InvalidHeader", "LineTooLong"}
_PACKED_WRONG = {"DecodingError", "ContentEncodingError"}
_WAITING = {"Timeout", "ReadTimeout", "WriteTimeout", "PoolTimeout", "APITimeoutError", "SocketTimeoutError"}


class StreamProblem(Exception):
    """Something that the host itself saw in a request or an answer."""

    def __init__(self, kind: ErrorKind, what: str) -> None:
        super().__init__(what)
        self.kind = kind
        self.what = what


def explain(error: BaseException, request: CompleteRequest, number: int, redact: Redactor) -> Failed:
    """The error as the person is told it."""

    chain = list(_chain(error))
    status = _status(chain)
    said = one_line(redact(_said(chain)), _SAID)
    seen = next((each for each in chain if isinstance(each, StreamProblem)), None)
    if seen is not None:
        kind, said, status = seen.kind, one_line(redact(seen.what), _SAID), None
    elif broken := _broken_wire({type(each).__name__ for each in chain}):
        kind, said, status = ErrorKind.BAD_ANSWER, broken, None
    else:
        kind = _kind(chain, status, said)
    wait = _retry_after(chain) if kind in (ErrorKind.RATE_LIMIT, ErrorKind.SERVER) else None
    if kind is ErrorKind.UNREACHABLE:
        said = _tls_problem(chain)
    message, hint = _words(kind, request, status, said, wait)
    return Failed(
        id=number,
        kind=kind,
        message=one_line(redact(message), 400),
        hint=one_line(redact(hint), 300),
        retry_after_s=wait,
    )


def _kind(chain: list[BaseException], status: int | None, said: str) -> ErrorKind:
    names = {type(error).__name__ for error in chain}
    if "LibraryMissingError" in names:
        return ErrorKind.INTERNAL
    if "ContextWindowExceededError" in names or status == 413:
        return ErrorKind.CONTEXT_TOO_LONG
    if "ContentPolicyViolationError" in names:
        return ErrorKind.REFUSED
    if names & (_CONNECTING | _NO_TLS):
        return ErrorKind.UNREACHABLE
    if names & _WAITING:
        return ErrorKind.TIMEOUT
    if names & _UNREADABLE or "invalid response from LLM" in said:
        return ErrorKind.BAD_ANSWER
    if names & _BREAKING or "before a finish_reason" in said:
        return ErrorKind.CUT
    if _NO_KEY.search(said):
        return ErrorKind.AUTH
    if _NO_PROVIDER.search(said):
        return ErrorKind.NOT_FOUND
    return _by_status(status, said)


def _tls_problem(chain: list[BaseException]) -> str:
    """What was wrong with the secure connection, in OpenSSL's words; empty when that was not it."""
    for error in chain:
        if isinstance(error, ssl.SSLError):
            why = getattr(error, "verify_message", None) or getattr(error, "reason", None)
            if why:
                return one_line(str(why).lower().replace("_", " "), 120)
    return ""


def _broken_wire(names: set[str]) -> str:
    """What is wrong below the protocol; the libraries say no more than "connection error"."""
    if names & _NO_HTTP:
        return "what came is no HTTP."
    return "it says that it is packed, and can't be unpacked." if names & _PACKED_WRONG else ""


def _by_status(status: int | None, said: str) -> ErrorKind:
    match status:
        case 401 | 403 | 402:
            return ErrorKind.AUTH
        case 404:
            return ErrorKind.NOT_FOUND
        case 408:
            return ErrorKind.TIMEOUT
        case 429:
            return ErrorKind.RATE_LIMIT
        case int() if 400 <= status < 500:
            return ErrorKind.CONTEXT_TOO_LONG if _TOO_LONG.search(said) else ErrorKind.BAD_REQUEST
    if _TOO_LONG.search(said):
        return ErrorKind.CONTEXT_TOO_LONG
    if _NO_MODEL.search(said):
        return ErrorKind.NOT_FOUND
    return ErrorKind.SERVER if status is not None else ErrorKind.INTERNAL


def _words(
    kind: ErrorKind, request: CompleteRequest, status: int | None, said: str, wait: float | None
) -> tuple[str, str]:
    who = request.model
    base = request.api_base or "its server"
    key = request.api_key_env or "the key"
    code = f" ({status})" if status and (kind is not ErrorKind.AUTH or status in (401, 402, 403)) else ""
    tail = f": {said}" if said else "."
    match kind:
        case ErrorKind.AUTH:
            hint = f"Check {key}." if request.api_key_env else "Set api_key_env to the variable that holds the key."
            return f"{who} was not let in{code}{tail}", hint
        case ErrorKind.NOT_FOUND if _NO_PROVIDER.search(said):
            return (
                f"Nobody is known who serves the model “{who}”.",
                "Name it with its provider: anthropic/NAME, ollama_chat/NAME, or openai/NAME with api_base.",
            )
        case ErrorKind.NOT_FOUND:
            return f"{who} was not found at {_host(base)}{code}{tail}", "Check the model's name and api_base."
        case ErrorKind.RATE_LIMIT:
            when = "later, or use the other agent" if wait is None else f"in {math.ceil(wait)} s"
            return f"{who} takes no more requests just now{code}{tail}", f"Try again {when}."
        case ErrorKind.CONTEXT_TOO_LONG:
            return (
                f"This is too long for {who}{tail}",
                "Start a new session, or use a model with a larger window.",
            )
        case ErrorKind.REFUSED:
            return f"{who} refused to answer{tail}", "Say it in another way, or use the other agent."
        case ErrorKind.TIMEOUT:
            return f"{who} did not answer in time{tail}", "Try again; the limits are in [timeouts]."
        case ErrorKind.CUT:
            return f"The connection to {who} broke before the answer was whole.", "Try again."
        case ErrorKind.BAD_ANSWER:
            return f"{who} answered something that can't be read{tail}", f"Check what runs at {_host(base)}."
        case ErrorKind.BAD_REQUEST:
            return f"{who} did not take the request{code}{tail}", "Check the agent's settings."
        case ErrorKind.UNREACHABLE if said:
            return (
                f"{who} can't be reached securely at {_host(base)}: {said}.",
                "Does it speak https, with a certificate that this machine trusts?",
            )
        case ErrorKind.UNREACHABLE:
            return f"{who} can't be reached at {_host(base)}.", "Is the server running, and the network up?"
        case ErrorKind.SERVER:
            return f"The server of {who} failed{code}{tail}", "Try again in a while."
        case _:
            return f"Asking {who} failed{tail}", "The model host's log says more."


def _chain(error: BaseException) -> Iterator[BaseException]:
    """The error and everything it was made from, outermost first."""

    waiting: list[BaseException | None] = [error]
    seen: set[int] = set()
    while waiting:
        current = waiting.pop(0)
        if not isinstance(current, BaseException) or id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        waiting += [getattr(current, "original_exception", None), current.__cause__, current.__context__]


def _status(chain: list[BaseException]) -> int | None:
    """The server's own status where a wrapper replaced it, as 529 by 500 and 413 by 400: the innermost that says
    more."""

    codes = [code for e in reversed(chain) if isinstance(code := getattr(e, "status_code", None), int)]
    if not codes:
        return None
    return next((code for code in codes if code not in (500, 503)), codes[0])


def _said(chain: list[BaseException]) -> str:
    """What the server said, without what every layer put around it."""

    for error in chain:
        body = getattr(error, "body", None)
        text = _message_in(body) if isinstance(body, Mapping) else ""
        if text:
            return text
    text = _TAIL.sub("", str(chain[0]))
    text = _PREFIXES.sub("", text.strip()).strip()
    found = re.search(r"b'(?:[^'\\]|\\.)*'|b\"(?:[^\"\\]|\\.)*\"", text)
    if found:
        try:
            text = ast.literal_eval(found[0]).decode("utf-8", "replace")
        except (ValueError, SyntaxError):
            pass
    start = text.find("{")
    if start >= 0:
        try:
            value, _ = json.JSONDecoder().raw_decode(text[start:])
        except ValueError:
            return text
        return _message_in(value) or text
    return text


def _message_in(value: Any) -> str:
    """The sentence in an error body, whatever its provider calls it."""

    match value:
        case {"error": inner}:
            return _message_in(inner)
        case {"message": str(text)} | {"detail": str(text)} | {"error_description": str(text)}:
            return text
        case str(text):
            return text
        case [first, *_]:
            return _message_in(first)
        case _:
            return ""


def _retry_after(chain: list[BaseException]) -> float | None:
    """Seconds, from the headers of whichever error still has them."""

    for error in chain:
        response = getattr(error, "response", None)
        for headers in (getattr(error, "litellm_response_headers", None), getattr(response, "headers", None)):
            if isinstance(headers, Mapping):
                wait = _wait_in({str(name).lower(): str(value) for name, value in headers.items()})
                if wait is not None:
                    return wait
    return None


def _wait_in(headers: Mapping[str, str]) -> float | None:
    milliseconds, value = headers.get("retry-after-ms"), headers.get("retry-after", "")
    try:
        return float(milliseconds) / 1000 if milliseconds else max(0.0, float(value))
    except ValueError:
        pass
    try:
        at = email.utils.parsedate_to_datetime(value)
        now = email.utils.parsedate_to_datetime(headers["date"])
        return max(0.0, (at - now).total_seconds())
    except (ValueError, KeyError, TypeError):
        return None


def _host(base: str) -> str:
    """Host and port of an address: no user, no path, no query."""

    try:
        parts = urlsplit(base)
        return f"{parts.hostname}:{parts.port}" if parts.port else parts.hostname or base
    except ValueError:
        return base
