// Lets the pages of a DocC archive be read from the disk, where a browser lets no script read a file
// or change the address. Does nothing where a server sends them.
(function () {
  if (location.protocol !== "file:") return;

  // Data: for NAME.json there is a script NAME.json.js, which calls fromDisk with what it holds.
  const waiting = new Map();
  window.fromDisk = function (name, content) {
    (waiting.get(name) || []).forEach((deliver) => deliver(content));
    waiting.delete(name);
  };
  window.fetch = function (address) {
    const path = new URL(address.url || address, location.href).pathname;
    const name = decodeURIComponent(path.slice(baseUrl.length))
      .replace(/\/index\.html(\.json)?$/, ".json").replace(/^\//, "");
    return new Promise(function (resolve) {
      const script = document.createElement("script");
      script.src = baseUrl + name + ".js";
      script.onerror = () => resolve(new Response("", { status: 404 }));
      const list = waiting.get(name) || [];
      waiting.set(name, list);
      list.push((content) =>
        resolve(new Response(JSON.stringify(content), {
          status: 200, headers: { "Content-Type": "application/json" },
        })));
      document.head.appendChild(script);
    });
  };

  // Addresses: each page is a file of its own, so going to another one loads it.
  const plain = (address) =>
    decodeURIComponent(new URL(address, location.href).pathname)
      .replace(/\/(index\.html)?$/, "");
  for (const name of ["pushState", "replaceState"]) {
    const original = history[name].bind(history);
    history[name] = function (state, title, address) {
      if (address === undefined || plain(address) === plain(location.href)) {
        try {
          original(state, title, address === undefined ? undefined : location.href);
        } catch (error) { /* The address stays. */ }
        return;
      }
      const target = new URL(address, location.href);
      location[name === "pushState" ? "assign" : "replace"](
        target.pathname.replace(/\/(index\.html)?$/, "") + "/index.html" + target.search
          + target.hash);
    };
  }
})();
