// Requests to the server of this page. The token is never part of a URL.

let token = "";

/**
 * Reads the token from the address bar or from another tab of this run, and keeps it as long as the tab
 * is open. Returns whether there is one.
 */
export async function takeToken() {
  const given = location.hash.match(/^#token=([0-9a-f]+)/);
  if (given) {
    sessionStorage.setItem("token", given[1]);
    history.replaceState(null, "", location.pathname + "#/schema");
  }
  token = sessionStorage.getItem("token") || "";
  const tabs = channel();
  if (!token && tabs) token = await tokenOfTabs(tabs);
  if (!token) return false;
  sessionStorage.setItem("token", token);
  if (tabs) {
    tabs.addEventListener("message", ({ data }) => { if (data === "wanted") tabs.postMessage({ token }); });
    // A tab that was opened earlier may be waiting for it.
    tabs.postMessage({ token });
  }
  return true;
}

/** Discards a token that isn't valid, such as that of an earlier run. */
export function forgetToken() {
  sessionStorage.removeItem("token");
  token = "";
}

/**
 * Waits until another tab sends the token, then calls `found`. Returns a function that reads the token
 * from a printed address, and returns whether it is valid.
 */
export function awaitToken(found) {
  const take = async (candidate) => {
    if (!await isRight(candidate)) return false;
    sessionStorage.setItem("token", candidate);
    found();
    return true;
  };
  const tabs = channel();
  if (tabs) tabs.addEventListener("message", ({ data }) => { if (data && typeof data.token === "string") take(data.token); });
  return (text) => take((text.match(/[0-9a-f]{32}(?![0-9a-f])/) || [""])[0]);
}

/** Returns whether the server accepts a token. */
async function isRight(candidate) {
  if (!/^[0-9a-f]+$/.test(candidate)) return false;
  const answer = await fetch("/api/news", { headers: { Authorization: `Bearer ${candidate}` } }).catch(() => null);
  return answer !== null && answer.status !== 401;
}

/**
 * Returns the channel between the tabs of this page. Another program may listen on `localhost` under
 * its other address, so only 127.0.0.1, which was printed, is trusted.
 */
function channel() {
  return location.hostname === "127.0.0.1" ? new BroadcastChannel("token") : null;
}

/** Requests the token from the other tabs. Validates it, since a tab may belong to an earlier run. */
function tokenOfTabs(tabs) {
  return new Promise((resolve) => {
    setTimeout(() => resolve(""), 1000);
    tabs.addEventListener("message", async ({ data }) => {
      if (data && typeof data.token === "string" && await isRight(data.token)) resolve(data.token);
    });
    tabs.postMessage("wanted");
  });
}

/** An error response of the server. */
export class Failure extends Error {
  constructor(status, fields, document) {
    super(fields.message || "The request failed. Reload the page.");
    Object.assign(this, fields, { status, document });
  }
}

function address(path, parameters) {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null && each !== "") query.append(name, each);
    }
  }
  const text = query.toString();
  return `/api/${path}${text ? "?" + text : ""}`;
}

async function request(url, options = {}) {
  let response;
  try {
    response = await fetch(url, {
      ...options, headers: { Authorization: `Bearer ${token}`, ...options.headers },
    });
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Failure(0, { code: "gone", message: "The server has stopped. Start it again." });
  }
  if (!response.ok) {
    const document = await response.json().catch(() => ({}));
    throw new Failure(response.status, document.error || {}, document);
  }
  return response;
}

export async function get(path, parameters = {}, signal) {
  return (await request(address(path, parameters), { signal })).json();
}

export async function post(path, body) {
  const options = {
    method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json" },
  };
  return (await request(`/api/${path}`, options)).json();
}

/** Returns the body of a response. */
export async function bytes(path, parameters) {
  return (await request(address(path, parameters))).arrayBuffer();
}

/** Returns the bytes of a binary value. */
export function binary(id, attribute) {
  return bytes("binary", { id, attribute });
}

/**
 * Downloads a document that the server streams. Calls `received` with the number of bytes so far. If
 * the document is truncated, throws the reason, which the server reports separately.
 */
export async function streamed(path, parameters, signal, received) {
  const response = await request(address(path, parameters), { signal });
  const number = response.headers.get("X-Export");
  let size = 0;
  const counted = response.body.pipeThrough(new TransformStream({
    transform(part, output) {
      size += part.length;
      received(size);
      output.enqueue(part);
    },
  }));
  try {
    return await new Response(counted).blob();
  } catch (error) {
    if (signal.aborted) throw error;
    const { rows, error: reason } = await get("exported", { id: number });
    throw new Failure(0, { ...reason, rows });
  }
}

/** Reads events until the signal aborts. Replaces `EventSource`, which cannot send the token. */
export async function events(path, parameters, signal, take) {
  const response = await request(address(path, parameters), { signal });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const parts = text.split("\n\n");
    text = parts.pop();
    for (const part of parts) {
      if (part.startsWith("data: ")) take(JSON.parse(part.slice(6)));
    }
  }
}
