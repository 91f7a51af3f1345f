// Allows the pages of a DocC archive to be opened from the disk, where browsers let no script read files
// or change the address. Does nothing if they are served over HTTP.
(function () {
  if (location.protocol !== "file:") return;

  // Data: for each NAME.json, a script NAME.json.js calls fromDisk with its contents.
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

  // Addresses: each page is a separate file, so navigation loads it.
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
