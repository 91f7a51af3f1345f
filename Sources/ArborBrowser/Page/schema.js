// A diagram of the model, with entities as boxes and relationships as lines around them.
import { get } from "./api.js";
import { bytes, count, el, notify, plural, show, svg } from "./dom.js";
import { edges, headHeight, heightOf, legend, lineHeight, lines, lineTop, sign, standalone } from "./diagram.js";
import { differenceView } from "./difference.js";
import { save } from "./export.js";
import { keepPlaces, keptPlaces, layOut, settle } from "./places.js";
import { routeAll } from "./routing.js";

/** The scale below which boxes show only their names. */
const farScale = 0.5;
const gridStep = 20;

/** The line between two boxes. */
function edgeView(link, route) {
  const group = svg("g", { class: `edge ${link.kind} ${link.mark || ""}` });
  if (!route) return group;
  const { points, start, goal } = route;
  const ends = link.kind === "inherits"
    ? [svg("path", { class: "arrow", d: `M${goal.x},${goal.y} l-7,12 h14 z` })]
    : [end([start.x, start.y, start.dx], link.fromMany), end([goal.x, goal.y, goal.dx], link.toMany)];
  const longest = points.slice(1).map((each, index) => [points[index], each])
    .sort(([a, b], [c, d]) => Math.abs(d.x - c.x) + Math.abs(d.y - c.y) - Math.abs(b.x - a.x) - Math.abs(b.y - a.y))[0];
  group.append(svg("path", { class: "line", d: `M${points.map((each) => `${each.x},${each.y}`).join(" L")}` }), ...ends,
    svg("text", { x: (longest[0].x + longest[1].x) / 2, y: (longest[0].y + longest[1].y) / 2 - 6 }, link.label));
  return group;
}

/** The mark at the end of a line: a fork for to-many, a bar for to-one. */
function end([x, y, side], isMany) {
  return svg("path", {
    class: "end", d: isMany ? `M${x},${y - 6} L${x + side * 10},${y} L${x},${y + 6}` : `M${x + side * 7},${y - 5} v10`,
  });
}

/** The view of the schema. */
export async function schemaView(main, schema) {
  const stage = el("div", { class: "stage", tabindex: 0, role: "group", "aria-label": "Schema diagram" });
  const scene = svg("g", {});
  // A group, because controls inside an image are not accessible.
  const picture = svg("svg", { class: "picture", role: "group", "aria-label": `${plural(schema.entities.length, "entity", "entities")} and their relationships` }, scene);
  const info = el("aside", { class: "detail", "aria-label": "Entity", hidden: true });
  let view = { x: 0, y: 0, scale: 1 };
  let chosen = null;
  let isFocused = false;
  /** The entities of the store's model, or of it and the model it is compared with. */
  let all = schema.entities;
  let difference = null;
  let entities = all;
  let links = [];
  let boxes = new Map();
  let boxViews = [];
  let lineViews = [];

  const isNeighbour = (all, name) => name === chosen || all.some((link) =>
    link.from === chosen && link.to === name || link.to === chosen && link.from === name);

  /** Draws all entities, or only the selected one with its neighbors. */
  function draw() {
    const whole = edges(all);
    entities = isFocused ? all.filter((each) => isNeighbour(whole, each.name)) : all;
    links = edges(entities);
    boxes = layOut(new Map(entities.map((each) => [each.name, heightOf(each)])), links, main.clientWidth || 1000);
    if (!isFocused) {
      const kept = keptPlaces(schema.id);
      for (const [name, place] of kept) if (boxes.has(name)) Object.assign(boxes.get(name), place);
      for (const [name, box] of boxes) if (!kept.has(name)) settle(box, [...kept.keys()].flatMap((each) => boxes.get(each) || []));
    }
    makeBoxes();
    drawLines();
  }

  function makeBoxes() {
    boxViews = entities.map((entity) => ({ entity, group: boxView(entity, boxes.get(entity.name), choose, (dx, dy) => {
      place(entity.name, boxes.get(entity.name).x + dx, boxes.get(entity.name).y + dy);
      drop(entity.name);
    }) }));
  }

  function drawLines() {
    const byName = new Map(entities.map((each) => [each.name, each]));
    const routes = routeAll(boxes, links.map((link) => ({
      ...link, fromTop: lineTop(byName.get(link.from), link.property), toTop: lineTop(byName.get(link.to), link.inverse),
    })));
    lineViews = links.map((link, index) => ({ link, group: edgeView(link, routes[index]) }));
    const active = scene.contains(document.activeElement) ? document.activeElement : null;
    scene.replaceChildren(...lineViews.map((each) => each.group), ...boxViews.map((each) => each.group));
    if (active && active.isConnected) active.focus();
    mark();
  }

  function place(name, x, y) {
    const box = boxes.get(name);
    box.x = Math.round(x);
    box.y = Math.round(y);
    boxViews.find((each) => each.entity.name === name).group.setAttribute("transform", `translate(${box.x} ${box.y})`);
  }

  /** Ends the move of a box: separates it from the others and stores its position. */
  function drop(name) {
    const box = boxes.get(name);
    settle(box, [...boxes].filter(([each]) => each !== name).map(([, each]) => each));
    place(name, box.x, box.y);
    drawLines();
    if (isFocused) return;
    keepPlaces(schema.id, new Map([...keptPlaces(schema.id), [name, { x: box.x, y: box.y }]]));
    reset.disabled = false;
  }

  function apply() {
    scene.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
    scene.classList.toggle("far", view.scale < farScale);
  }

  function extent() {
    const all = [...boxes.values()];
    return {
      left: Math.min(0, ...all.map((box) => box.x)), top: Math.min(0, ...all.map((box) => box.y)),
      right: Math.max(100, ...all.map((box) => box.x + box.width)), bottom: Math.max(100, ...all.map((box) => box.y + box.height)),
    };
  }

  function fit() {
    const [width, height] = [stage.clientWidth, stage.clientHeight];
    const { left, top, right, bottom } = extent();
    const least = width < 700 ? 0.75 : 0.35;
    const scale = Math.min(1.1, Math.max(least, Math.min((width - 72) / (right - left), (height - 48) / (bottom - top))));
    view = {
      scale, x: Math.max(32, (width - (right - left) * scale) / 2) - left * scale,
      y: Math.max(24, (height - (bottom - top) * scale) / 2) - top * scale,
    };
    apply();
  }

  function zoom(factor, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
    const scale = Math.min(3, Math.max(0.1, view.scale * factor));
    view = {
      scale, x: x - (x - view.x) * scale / view.scale, y: y - (y - view.y) * scale / view.scale,
    };
    apply();
  }

  function choose(name) {
    chosen = chosen === name ? null : name;
    if (isFocused) focusOn(Boolean(chosen));
    mark();
    only.disabled = !chosen;
    info.hidden = !chosen;
    main.classList.toggle("with-detail", Boolean(chosen));
    showChosen();
  }

  function showChosen() {
    if (!chosen) return;
    const entity = all.find((each) => each.name === chosen);
    const close = () => choose(chosen);
    show(info, difference ? differenceView(entity, close) : entityView(schema, entity, close));
  }

  const figures = () => `${plural(schema.entities.length, "entity", "entities")} · ${plural(schema.entities.reduce((sum, each) => sum + each.ownCount, 0), "object")}`;

  /** Shows the counts and sizes of newer commits. Boxes keep their positions. */
  function refresh(changed) {
    schema = changed;
    show(total, figures());
    const focused = boxViews.find((each) => each.group === document.activeElement);
    if (!difference) all = schema.entities;
    entities = all.filter((each) => boxes.has(each.name));
    makeBoxes();
    drawLines();
    const again = focused && boxViews.find((each) => each.entity.name === focused.entity.name);
    if (again) again.group.focus();
    showChosen();
  }

  /** Shows only the selected entity and its neighbors, or all entities. */
  function focusOn(isOnly) {
    isFocused = isOnly;
    only.setAttribute("aria-pressed", isOnly ? "true" : "false");
    draw();
    fit();
    const view = boxViews.find((each) => each.entity.name === chosen);
    if (view && document.activeElement === document.body) view.group.focus();
  }

  /** Dims entities that are neither selected nor found nor connected with such an entity. */
  function mark() {
    const text = search.value.trim().toLowerCase();
    const isFound = (entity) => !text || entity.name.toLowerCase().includes(text)
      || [...entity.attributes, ...entity.relationships].some((each) => each.name.toLowerCase().includes(text));
    for (const { entity, group } of boxViews) {
      group.classList.toggle("dim", !isFound(entity) || Boolean(chosen) && !isNeighbour(links, entity.name));
      group.classList.toggle("chosen", entity.name === chosen);
    }
    for (const { link, group } of lineViews) {
      const isOf = link.from === chosen || link.to === chosen;
      group.classList.toggle("dim", chosen ? !isOf : Boolean(text));
      group.classList.toggle("chosen", Boolean(chosen) && isOf);
    }
    found.textContent = text ? plural(entities.filter(isFound).length, "entity", "entities") : "";
  }

  const search = el("input", {
    type: "search", "aria-label": "Search names", placeholder: "Search names", "data-search": "", oninput: () => mark(),
    onkeydown: (event) => {
      if (event.key !== "Enter") return;
      const first = boxViews.find(({ group }) => !group.classList.contains("dim"));
      if (first) { chosen = null; choose(first.entity.name); first.group.focus(); }
    },
  });
  const found = el("span", { class: "faint", role: "status" });
  const total = el("span", { class: "faint" }, figures());
  const button = (label, text, act) => el("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);
  const only = el("button", { type: "button", "aria-pressed": "false", disabled: true, title: "Show only the selected entity and its neighbors", onclick: () => focusOn(!isFocused) }, "Neighbors");
  const reset = el("button", {
    type: "button", title: "Reset the positions of all boxes", disabled: !keptPlaces(schema.id).size,
    onclick: () => { keepPlaces(schema.id, new Map()); reset.disabled = true; draw(); fit(); },
  }, "Arrange");
  const compare = schema.against ? el("button", {
    type: "button", "aria-pressed": "false", title: `Show the differences between the store's model and ${schema.against}`, onclick: () => toggle(),
  }, "Differences") : null;
  const key = el("ul", { class: "signs", "aria-label": "Signs", hidden: true },
    legend.map(({ mark, text }) => el("li", { class: mark }, text)));

  /** Draws the differences of the two models, or the store's model again. */
  async function toggle() {
    try {
      difference = difference ? null : await get("difference");
    } catch (error) {
      return notify(error.message, "error");
    }
    all = difference ? difference.entities : schema.entities;
    compare.setAttribute("aria-pressed", String(Boolean(difference)));
    key.hidden = !difference;
    if (difference) {
      const marked = all.filter((each) => each.mark).length + difference.others.length;
      notify([marked ? `${schema.against} differs in ${plural(all.filter((each) => each.mark).length, "entity", "entities")}.` : `${schema.against} doesn't differ.`,
        ...difference.others].join(" "));
    }
    if (chosen) choose(chosen);
    draw();
    fit();
  }

  /** Saves the entities that are shown as a class diagram, which the server writes. */
  async function saveMermaid() {
    const entity = entities.length < all.length ? entities.map((each) => each.name) : [];
    try {
      const { text } = await get("mermaid", { entity, difference: difference ? "true" : "" });
      save(`${stem}.mmd`, new Blob([text], { type: "text/plain" }));
    } catch (error) {
      notify(error.message, "error");
    }
  }

  const stem = schema.name.replace(/[^\p{L}\p{N}_-]+/gu, "-");

  stage.append(picture, el("div", { class: "zoom" }, button("Zoom in", "+", () => zoom(1.25)),
    button("Zoom out", "−", () => zoom(0.8)), button("Fit", "⤢", fit)));
  stage.addEventListener("wheel", (event) => {
    event.preventDefault();
    const box = stage.getBoundingClientRect();
    if (event.ctrlKey || !event.shiftKey) zoom(Math.exp(-event.deltaY * 0.0015), event.clientX - box.left, event.clientY - box.top);
    else { view.x -= event.deltaX + event.deltaY; apply(); }
  }, { passive: false });
  let drag = null;
  picture.addEventListener("pointerdown", (event) => {
    const group = event.target.closest(".box");
    const moved = group && boxViews.find((each) => each.group === group);
    const from = moved ? { ...boxes.get(moved.entity.name) } : { ...view };
    drag = { name: moved && moved.entity.name, from, x: event.clientX, y: event.clientY, id: event.pointerId, hasMoved: false };
  });
  picture.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    if (!drag.hasMoved && Math.abs(dx) + Math.abs(dy) < 4) return;
    if (!drag.hasMoved) { drag.hasMoved = true; picture.setPointerCapture(drag.id); }
    if (drag.name) return place(drag.name, drag.from.x + dx / view.scale, drag.from.y + dy / view.scale);
    view.x = drag.from.x + dx;
    view.y = drag.from.y + dy;
    apply();
  });
  for (const name of ["pointerup", "pointercancel"]) {
    picture.addEventListener(name, () => {
      if (drag && drag.name && drag.hasMoved) drop(drag.name);
      drag = null;
    });
  }
  main.onkeydown = (event) => {
    if (event.target.closest("input") || event.ctrlKey || event.metaKey || event.altKey) return;
    const moves = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
    if (moves[event.key] && !event.shiftKey && stage.contains(event.target)) {
      view.x += moves[event.key][0];
      view.y += moves[event.key][1];
      apply();
    } else if (event.key === "+") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") fit();
    else if (event.key === "n" && chosen) focusOn(!isFocused);
    else if (event.key === "Escape" && isFocused) focusOn(false);
    else if (event.key === "Escape" && chosen) choose(chosen);
    else return;
    event.preventDefault();
  };
  show(main, el("section", { class: "content", "aria-label": "Schema" },
    el("div", { class: "bar" }, search, found, el("span", { class: "grow" }),
      total, key, compare, only, reset,
      el("button", { type: "button", title: "Save the diagram as SVG", onclick: () => save(`${stem}.svg`, new Blob([standalone(scene, extent(), Boolean(difference))], { type: "image/svg+xml" })) }, "SVG"),
      el("button", { type: "button", title: "Save the model as a Mermaid class diagram", onclick: saveMermaid }, "Mermaid")),
    stage), info);
  draw();
  fit();
  // The first notification reports the size that the diagram already fits.
  const size = () => `${stage.clientWidth} ${stage.clientHeight}`;
  let fitted = size();
  const observer = new ResizeObserver(() => {
    if (size() === fitted) return;
    fitted = size();
    fit();
  });
  observer.observe(stage);
  return { end: () => { observer.disconnect(); main.onkeydown = null; }, refresh };
}

/** A box that is selected by a click or Enter, and moved by Shift and the arrow keys. */
function boxView(entity, box, choose, move) {
  const cut = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;
  const state = "mark" in entity ? entity.mark || "equal" : null;
  const size = state || (entity.isAbstract ? "abstract" : plural(entity.ownCount, "object"));
  return svg("g", {
    class: `box${entity.isAbstract ? " abstract" : ""} ${entity.mark || ""}`, transform: `translate(${box.x} ${box.y})`, tabindex: 0,
    role: "button", "aria-label": `${entity.name}, ${size}`,
    "aria-keyshortcuts": "Shift+ArrowLeft Shift+ArrowRight Shift+ArrowUp Shift+ArrowDown",
    onclick: () => choose(entity.name),
    onkeydown: (event) => {
      const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      if (event.shiftKey && steps[event.key]) {
        event.preventDefault();
        event.stopPropagation();
        return move(...steps[event.key].map((each) => each * gridStep));
      }
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(entity.name);
    },
  }, svg("rect", { class: "frame", width: box.width, height: box.height, rx: 10 }),
  svg("path", { class: "band", d: `M0,${headHeight - 6} V10 a10,10 0 0 1 10,-10 H${box.width - 10} a10,10 0 0 1 10,10 V${headHeight - 6} z` }),
  svg("text", { class: "name", x: 14, y: 20 }, cut(sign(entity.mark) + entity.name, 26)),
  svg("text", { class: "far-name", x: box.width / 2, y: box.height / 2 + 9, "text-anchor": "middle", "aria-hidden": "true" }, cut(sign(entity.mark) + entity.name, 16)),
  svg("text", { class: "size", x: 14, y: 34 }, state || (entity.isAbstract ? "abstract" : `${size} · ${bytes(entity.bytes)}`)),
  lines(entity).map((line, index) => [
    svg("text", { class: `line ${line.kind} ${line.mark || ""}`, x: 14, y: headHeight + 14 + index * lineHeight }, cut(sign(line.mark) + line.name, 18)),
    svg("text", { class: "type", x: box.width - 14, y: headHeight + 14 + index * lineHeight, "text-anchor": "end" }, cut(line.type, 16)),
  ]));
}

/** One entity with all of its properties, including inherited ones. */
function entityView(schema, entity, close) {
  const subentities = schema.entities.filter((each) => each.parent === entity.name);
  const notes = (each) => [each.type, each.isOptional ? "optional" : "", each.isIndexed ? "indexed" : "",
    each.derivation ? `derived: ${each.derivation}` : "", each.isOwn ? "" : "inherited"].filter((note) => note).join(", ");
  const rule = (each) => [each.isToMany ? `many ${each.destination}` : each.destination, each.isOrdered ? "ordered" : "",
    each.inverse ? `inverse ${each.inverse}` : "no inverse", `${each.deleteRule} on delete`].filter((note) => note).join(", ");
  return [
    el("header", {}, el("div", {}, el("p", { class: "faint" }, entity.isAbstract ? "abstract entity" : "entity",
      entity.parent ? `, inherits from ${entity.parent}` : ""), el("h2", {}, entity.name)),
    el("button", { type: "button", class: "close quiet", "aria-label": "Close", onclick: close }, "✕")),
    el("p", {}, el("a", { class: "button", href: `#/objects/${encodeURIComponent(entity.name)}` }, `Show ${plural(entity.count, "object")}`)),
    el("p", { class: "faint" }, `The records occupy ${bytes(entity.bytes)}.`,
      subentities.length ? ` Subentities: ${subentities.map((each) => each.name).join(", ")}.` : ""),
    el("h3", {}, "Attributes", el("span", { class: "count" }, count(entity.attributes.length))),
    el("dl", { class: "values" }, entity.attributes.map((each) => [el("dt", {}, each.name), el("dd", {}, notes(each))])),
    el("h3", {}, "Relationships", el("span", { class: "count" }, count(entity.relationships.length))),
    el("dl", { class: "values" }, entity.relationships.map((each) => [el("dt", {}, each.name), el("dd", {}, rule(each))])),
    entity.indexes.length || entity.unique.length ? el("h3", {}, "Indexes") : null,
    el("dl", { class: "values" }, entity.indexes.map((each) => [el("dt", {}, each.name), el("dd", {}, each.summary)]),
      entity.unique.map((each) => [el("dt", {}, each.join(", ")), el("dd", {}, "unique")])),
  ];
}
