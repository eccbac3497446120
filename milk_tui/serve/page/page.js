"use strict";
// What the terminal in terminal.js lacks: fonts before it measures, keys and messages it does not know, a clear end.

let socket = null;
let ended = false;

function say(...message) {
  if (socket !== null && socket.readyState === WebSocket.OPEN) {
    socket.send(JSON.stringify(message));
  }
}

function end(why) {
  if (ended) {
    return;
  }
  ended = true;
  document.getElementById("why").textContent = why;
  document.getElementById("ended").hidden = false;
  document.body.classList.add("-ended");
  document.getElementById("again").focus();
}

function toTerminal() {
  const keys = document.querySelector(".xterm-helper-textarea");
  if (keys !== null && !ended) {
    keys.focus({ preventScroll: true });
  }
}

async function copy(number, text) {
  try {
    if (navigator.clipboard === undefined) {
      throw new Error("the browser lets only 127.0.0.1, localhost and https pages copy");
    }
    await navigator.clipboard.writeText(text);
    say("copied", number, true, "");
  } catch (error) {
    say("copied", number, false, String(error.message || error));
  }
}

function hear(event) {
  if (typeof event.data !== "string") {
    return;
  }
  const [kind, ...rest] = JSON.parse(event.data);
  switch (kind) {
    case "title":
      document.title = rest[0];
      break;
    case "copy":
      copy(rest[0], rest[1]);
      break;
    case "ended":
      end(rest[0]);
      break;
  }
}

// The terminal makes its own socket: this is how the page listens on it.
const Plain = window.WebSocket;
window.WebSocket = class extends Plain {
  constructor(...given) {
    super(...given);
    socket = this;
    this.addEventListener("message", hear);
    this.addEventListener("close", () => end("The connection ended. What was said and the draft are saved."));
    this.addEventListener("open", toTerminal);
  }
};

// A link in a conversation is from a model: it is shown and copied, never opened.
window.open = () => null;

document.addEventListener(
  "keydown",
  (event) => {
    if (event.key === "Enter" && event.shiftKey && !event.isComposing && !ended) {
      event.preventDefault();
      event.stopImmediatePropagation();
      say("stdin", "\x1b[13;2u");
    }
    if (event.key.toLowerCase() === "v" && (event.ctrlKey || event.metaKey) && !event.altKey) {
      event.stopImmediatePropagation(); // the browser then pastes, which the terminal takes as one block
    }
  },
  true,
);

// Textual's keys ctrl+w and ctrl+n are the browser's here: it asks before it closes the page.
window.addEventListener("beforeunload", (event) => {
  if (socket !== null && !ended) {
    event.preventDefault();
  }
});
window.addEventListener("focus", () => {
  toTerminal();
  say("focus");
});
window.addEventListener("blur", () => say("blur"));
document.getElementById("again").addEventListener("click", () => window.location.reload());

async function begin() {
  const scheme = window.location.protocol === "https:" ? "wss" : "ws";
  const light = window.matchMedia("(prefers-color-scheme: light)").matches ? "/light" : "";
  document.getElementById("terminal").dataset.sessionWebsocketUrl = `${scheme}://${window.location.host}/ws${light}`;
  const faces = ["400", "700", "italic 400"].map((face) => document.fonts.load(`${face} 15px "Roboto Mono"`));
  await Promise.allSettled(faces);
  const terminal = document.createElement("script");
  terminal.src = "/page/terminal.js";
  terminal.addEventListener("load", () => {
    window.onload(new Event("load"));
    toTerminal();
  });
  terminal.addEventListener("error", () => end("The page's terminal could not be loaded."));
  document.body.append(terminal);
}

begin();
