// A diagram of the model, with entities as boxes and relationships as curves between them.
import { bytes, count, el, plural, show, svg } from "./dom.js";

const boxWidth = 250;
const lineHeight = 20;
const headHeight = 46;
const gap = { x: 110, y: 36 };
const mostLines = 14;

/** The lines of a box: its own properties, the first of them where there are many. */
function lines(entity) {
  const all = [
    ...entity.attributes.filter((each) => each.isOwn).map((each) => ({
      name: each.name, type: each.type + (each.isOptional ? "?" : ""), kind: "attribute",
    })),
    ...entity.relationships.filter((each) => each.isOwn).map((each) => ({
      name: each.name, type: each.isToMany ? `[${each.destination}]` : each.destination, kind: "relationship",
    })),
  ];
  if (all.length <= mostLines) return all;
  return [...all.slice(0, mostLines - 1), { name: `… ${all.length - mostLines + 1} more`, type: "", kind: "more" }];
}

/** The relationships as pairs, each with its inverse, and the inheritance. */
function edges(schema) {
  const seen = new Set();
  const found = [];
  for (const entity of schema.entities) {
    if (entity.parent) found.push({ from: entity.name, to: entity.parent, kind: "inherits", label: "is a" });
    for (const each of entity.relationships.filter((relationship) => relationship.isOwn)) {
      const names = [`${entity.name}.${each.name}`, `${each.destination}.${each.inverse}`];
      const key = each.inverse ? names.sort().join(" ") : names[0];
      if (seen.has(key)) continue;
      seen.add(key);
      const other = schema.entities.find((one) => one.name === each.destination);
      const inverse = other && other.relationships.find((one) => one.name === each.inverse);
      found.push({
        from: entity.name, to: each.destination, kind: "relationship", property: each.name, inverse: each.inverse,
        label: each.inverse ? `${each.name} / ${each.inverse}` : each.name,
        fromMany: Boolean(inverse && inverse.isToMany), toMany: each.isToMany,
      });
    }
  }
  return found;
}

/**
 * Places boxes in columns: breadth first from the entity with most connections, so that what
 * belongs together stands side by side.
 */
function layOut(schema, links, width) {
  const near = new Map(schema.entities.map((each) => [each.name, []]));
  for (const link of links) {
    if (link.from === link.to || !near.has(link.to)) continue;
    near.get(link.from).push(link.to);
    near.get(link.to).push(link.from);
  }
  const waiting = [...near.keys()].sort((a, b) => near.get(b).length - near.get(a).length);
  const order = [];
  const known = new Set();
  for (const root of waiting) {
    if (known.has(root)) continue;
    const queue = [root];
    known.add(root);
    while (queue.length) {
      const name = queue.shift();
      order.push(name);
      for (const next of near.get(name)) if (!known.has(next)) { known.add(next); queue.push(next); }
    }
  }
  const byName = new Map(schema.entities.map((each) => [each.name, each]));
  const heights = new Map(order.map((name) => [name, headHeight + lines(byName.get(name)).length * lineHeight + 12]));
  const sum = [...heights.values()].reduce((all, each) => all + each + gap.y, 0);
  const fitting = Math.max(1, Math.floor((width + gap.x) / (boxWidth + gap.x)));
  const square = Math.max(1, Math.round(Math.sqrt(sum / (boxWidth + gap.x) * (width > 700 ? 1.6 : 0.6))));
  const number = Math.min(order.length, Math.max(square, Math.min(fitting, 2)));
  const tops = new Array(number).fill(0);
  const boxes = new Map();
  for (const name of order) {
    const column = tops.indexOf(Math.min(...tops));
    boxes.set(name, { x: column * (boxWidth + gap.x), y: tops[column], width: boxWidth, height: heights.get(name) });
    tops[column] += heights.get(name) + gap.y;
  }
  return boxes;
}

/** The height at which a line meets a box: that of the property it stands for. */
function lineTop(entity, property) {
  const index = lines(entity).findIndex((each) => each.kind === "relationship" && each.name === property);
  return index < 0 ? 24 : headHeight + 10 + index * lineHeight;
}

function curve(from, to, fromTop, toTop) {
  const sides = [
    [from.x + from.width, to.x, 1, -1], [from.x, to.x + to.width, -1, 1],
    [from.x + from.width, to.x + to.width, 1, 1],
  ];
  const [x1, x2, out, into] = from.x + from.width <= to.x ? sides[0] : to.x + to.width <= from.x ? sides[1] : sides[2];
  const [y1, y2] = [from.y + fromTop, to.y + toTop + (from === to && fromTop === toTop ? 20 : 0)];
  const reach = from === to || out === into ? 56 + Math.abs(y2 - y1) * 0.08 : Math.max(46, Math.abs(x2 - x1) / 2);
  return {
    path: `M${x1},${y1} C${x1 + out * reach},${y1} ${x2 + into * reach},${y2} ${x2},${y2}`,
    x: (x1 + x2) / 2 + (out === into ? reach * 0.75 * out : 0), y: (y1 + y2) / 2, ends: [[x1, y1, out], [x2, y2, into]],
  };
}

/** The mark at the end of a line: a fork for many, a bar for one. */
function end([x, y, side], isMany) {
  return svg("path", {
    class: "end", d: isMany ? `M${x},${y - 6} L${x + side * 10},${y} L${x},${y + 6}` : `M${x + side * 7},${y - 5} v10`,
  });
}

/** The view of the schema. */
export async function schemaView(main, schema) {
  const links = edges(schema).filter((each) => schema.entities.some((one) => one.name === each.to));
  const stage = el("div", { class: "stage", tabindex: 0, role: "group", "aria-label": "Picture of the schema" });
  const boxes = layOut(schema, links, main.clientWidth || 1000);
  const extent = [...boxes.values()].reduce((all, box) => ({
    width: Math.max(all.width, box.x + box.width), height: Math.max(all.height, box.y + box.height),
  }), { width: boxWidth, height: 100 });
  const scene = svg("g", {});
  // A group, because elements inside an image are not accessible as controls.
  const picture = svg("svg", { class: "picture", role: "group", "aria-label": `${plural(schema.entities.length, "entity", "entities")} and their relationships` }, scene);
  let view = { x: 0, y: 0, scale: 1 };
  let chosen = null;
  const info = el("aside", { class: "detail", "aria-label": "Entity", hidden: true });

  const entityNamed = (name) => schema.entities.find((each) => each.name === name);
  const lineViews = links.map((link) => {
    const drawn = curve(boxes.get(link.from), boxes.get(link.to),
      lineTop(entityNamed(link.from), link.property), lineTop(entityNamed(link.to), link.inverse));
    const group = svg("g", { class: `edge ${link.kind}` }, svg("path", { d: drawn.path }),
      link.kind === "inherits" ? svg("path", {
        class: "arrow", d: `M${drawn.ends[1][0]},${drawn.ends[1][1]} l${drawn.ends[1][2] * 12},-6 v12 z`,
      }) : [end(drawn.ends[0], link.fromMany), end(drawn.ends[1], link.toMany)],
      svg("text", { x: drawn.x, y: drawn.y - 6 }, link.label));
    return { link, group };
  });
  const boxViews = schema.entities.map((entity) => ({ entity, group: boxView(entity, boxes.get(entity.name), choose) }));
  scene.append(...lineViews.map((each) => each.group), ...boxViews.map((each) => each.group));

  function apply() {
    scene.setAttribute("transform", `translate(${view.x} ${view.y}) scale(${view.scale})`);
  }

  function fit() {
    const [width, height] = [stage.clientWidth, stage.clientHeight];
    const least = width < 700 ? 0.75 : 0.35;
    const scale = Math.min(1.1, Math.max(least, Math.min((width - 72) / extent.width, (height - 48) / extent.height)));
    view = {
      scale, x: Math.max(32, (width - extent.width * scale) / 2), y: Math.max(24, (height - extent.height * scale) / 2),
    };
    apply();
  }

  function zoom(factor, x = stage.clientWidth / 2, y = stage.clientHeight / 2) {
    const scale = Math.min(3, Math.max(0.15, view.scale * factor));
    view = {
      scale, x: x - (x - view.x) * scale / view.scale, y: y - (y - view.y) * scale / view.scale,
    };
    apply();
  }

  function choose(name) {
    chosen = chosen === name ? null : name;
    mark();
    info.hidden = !chosen;
    main.classList.toggle("with-detail", Boolean(chosen));
    if (chosen) show(info, entityView(schema, schema.entities.find((each) => each.name === chosen), () => choose(chosen)));
  }

  /** Dims what is neither chosen nor found, nor connected with it. */
  function mark() {
    const text = search.value.trim().toLowerCase();
    const isFound = (entity) => !text || entity.name.toLowerCase().includes(text)
      || [...entity.attributes, ...entity.relationships].some((each) => each.name.toLowerCase().includes(text));
    const isNear = (name) => !chosen || name === chosen || links.some((link) =>
      link.from === chosen && link.to === name || link.to === chosen && link.from === name);
    for (const { entity, group } of boxViews) {
      group.classList.toggle("dim", !isFound(entity) || !isNear(entity.name));
      group.classList.toggle("chosen", entity.name === chosen);
    }
    for (const { link, group } of lineViews) {
      const isOf = link.from === chosen || link.to === chosen;
      group.classList.toggle("dim", chosen ? !isOf : Boolean(text));
      group.classList.toggle("chosen", Boolean(chosen) && isOf);
    }
    found.textContent = text ? plural(schema.entities.filter(isFound).length, "entity", "entities") : "";
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
  const button = (label, text, act) => el("button", { type: "button", "aria-label": label, title: label, onclick: act }, text);

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
    drag = { x: event.clientX - view.x, y: event.clientY - view.y, id: event.pointerId, moved: false };
  });
  picture.addEventListener("pointermove", (event) => {
    if (!drag) return;
    const moved = Math.abs(event.clientX - view.x - drag.x) + Math.abs(event.clientY - view.y - drag.y);
    if (!drag.moved && moved < 4) return;
    if (!drag.moved) { drag.moved = true; picture.setPointerCapture(drag.id); }
    view.x = event.clientX - drag.x;
    view.y = event.clientY - drag.y;
    apply();
  });
  for (const name of ["pointerup", "pointercancel"]) picture.addEventListener(name, () => { drag = null; });
  main.onkeydown = (event) => {
    if (event.target.closest("input")) return;
    const moves = { ArrowLeft: [40, 0], ArrowRight: [-40, 0], ArrowUp: [0, 40], ArrowDown: [0, -40] };
    if (moves[event.key] && stage.contains(event.target)) {
      view.x += moves[event.key][0];
      view.y += moves[event.key][1];
      apply();
    } else if (event.key === "+") zoom(1.25);
    else if (event.key === "-") zoom(0.8);
    else if (event.key === "0") fit();
    else if (event.key === "Escape" && chosen) choose(chosen);
    else return;
    event.preventDefault();
  };
  show(main, el("section", { class: "content", "aria-label": "Schema" },
    el("div", { class: "bar" }, search, found, el("span", { class: "grow" }),
      el("span", { class: "faint" }, `${plural(schema.entities.length, "entity", "entities")} · ${plural(schema.entities.reduce((sum, each) => sum + each.ownCount, 0), "object")}`)),
    stage), info);
  fit();
  const observer = new ResizeObserver(() => fit());
  observer.observe(stage);
  return { end: () => { observer.disconnect(); main.onkeydown = null; }, refresh: () => {} };
}

function boxView(entity, box, choose) {
  const cut = (text, most) => text.length > most ? text.slice(0, most - 1) + "…" : text;
  const size = entity.isAbstract ? "abstract" : plural(entity.ownCount, "object");
  return svg("g", {
    class: `box${entity.isAbstract ? " abstract" : ""}`, transform: `translate(${box.x} ${box.y})`, tabindex: 0,
    role: "button", "aria-label": `${entity.name}, ${size}`,
    onclick: () => choose(entity.name),
    onkeydown: (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      choose(entity.name);
    },
  }, svg("rect", { class: "frame", width: box.width, height: box.height, rx: 10 }),
  svg("path", { class: "band", d: `M0,${headHeight - 6} V10 a10,10 0 0 1 10,-10 H${box.width - 10} a10,10 0 0 1 10,10 V${headHeight - 6} z` }),
  svg("text", { class: "name", x: 14, y: 20 }, cut(entity.name, 26)),
  svg("text", { class: "size", x: 14, y: 34 }, entity.isAbstract ? "abstract" : `${size} · ${bytes(entity.bytes)}`),
  lines(entity).map((line, index) => [
    svg("text", { class: `line ${line.kind}`, x: 14, y: headHeight + 14 + index * lineHeight }, cut(line.name, 18)),
    svg("text", { class: "type", x: box.width - 14, y: headHeight + 14 + index * lineHeight, "text-anchor": "end" }, cut(line.type, 16)),
  ]));
}

/** One entity with all of its properties, those that it inherits included. */
function entityView(schema, entity, close) {
  const subentities = schema.entities.filter((each) => each.parent === entity.name);
  const notes = (each) => [each.type, each.isOptional ? "optional" : "", each.isIndexed ? "indexed" : "",
    each.derivation ? `derived: ${each.derivation}` : "", each.isOwn ? "" : "inherited"].filter((note) => note).join(", ");
  const rule = (each) => [each.isToMany ? `many ${each.destination}` : each.destination, each.isOrdered ? "ordered" : "",
    each.inverse ? `inverse ${each.inverse}` : "no inverse", `${each.deleteRule} on delete`].filter((note) => note).join(", ");
  return [
    el("header", {}, el("div", {}, el("p", { class: "faint" }, entity.isAbstract ? "abstract entity" : "entity",
      entity.parent ? `, a ${entity.parent}` : ""), el("h2", {}, entity.name)),
    el("button", { type: "button", class: "close quiet", "aria-label": "Close", onclick: close }, "✕")),
    el("p", {}, el("a", { class: "button", href: `#/objects/${encodeURIComponent(entity.name)}` }, `Show ${plural(entity.count, "object")}`)),
    el("p", { class: "faint" }, `Records fill ${bytes(entity.bytes)}.`,
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
