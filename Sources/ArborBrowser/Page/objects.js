// The objects of an entity: a condition, a table, and a single object with its links.
import { get } from "./api.js";
import { count, el, failure, milliseconds, plural, replaceList, show } from "./dom.js";
import { editForm, insertForm } from "./edit.js";
import { keepPlace, keptPlace } from "./place.js";
import { conjunction, predicateBox, showConditions } from "./predicate.js";
import { onStaged, stagedFor, stagedObjects, stagedRow, stagedValue, unstage } from "./staged.js";
import { identityColumn, makeTable, propertyColumn } from "./table.js";
import { cell, link, whole } from "./values.js";

/** Returns the columns of an entity's objects, in the order of a row's values. */
function columns(entity, href) {
  const properties = [...entity.attributes, ...entity.relationships];
  return [identityColumn(href), ...properties.map((each, index) => propertyColumn(each, index + 1))];
}

/** The view of an entity's objects; `#/objects/Entity?where=…&sort=…&id=…`. */
export async function objectsView(main, schema, rest, parameters) {
  const first = schema.entities.find((each) => !each.isAbstract && each.count) || schema.entities[0];
  const name = rest[0] || (first && first.name);
  let entity = schema.entities.find((each) => each.name === name);
  if (!entity) {
    // The error of the server, which is shown in place of the view, suggests a similar name.
    if (name) await get("count", { entity: name });
    show(main, el("div", { class: "failure", role: "alert" }, el("strong", {}, "The model has no entities.")));
    return {};
  }
  let state = { where: parameters.get("where") || "", sort: parameters.get("sort") || "" };
  let grid = null;
  let loads = 0;
  let shownObject = 0;
  const summary = el("p", { class: "summary", role: "status" }, "\u00a0");
  const detail = el("aside", { class: "detail", "aria-label": "Object", hidden: true });
  const table = el("div", { class: "table" });
  const conditions = el("ul", { class: "conditions", "aria-label": "Conditions", hidden: !state.where });
  const tools = el("span", { class: "table-tools" });

  function address(changes) {
    const { id, ...now } = { ...state, ...changes };
    const query = new URLSearchParams(Object.entries({ ...now, id: id || "" }).filter(([, value]) => value));
    return `#/objects/${encodeURIComponent(name)}${query.size ? "?" + query : ""}`;
  }

  const box = predicateBox({
    schema, entity: () => name, label: `Condition for ${name}`, value: state.where,
    placeholder: `${entity.attributes[0] ? entity.attributes[0].name : "name"} == …   (all objects)`,
    take: (text) => {
      if (text.trim() === state.where) load();
      else location.hash = address({ where: text.trim(), id: "" });
    },
  });
  box.input.dataset.search = "";

  async function load() {
    box.clear();
    const query = { entity: name, where: state.where };
    const ownLoad = ++loads;
    let total = null;
    if (grid && grid.where !== query.where) {
      // A condition that fails doesn't replace the rows of the last one.
      try { total = await get("count", query); } catch (error) {
        if (ownLoad === loads) failed(error);
        return;
      }
      if (ownLoad !== loads) return;
    }
    // The table regains the focus if it was sorted by the keyboard.
    const hadFocus = grid !== null && grid.element === document.activeElement;
    const place = keptPlace() || (hadFocus ? { ...grid.place, top: 0 } : null);
    if (grid) grid.end();
    const own = makeTable({
      place: place && { ...place, row: place.isInHead ? -1 : place.row }, moved: keepPlace,
      label: `Objects of ${name}`, entity: name, key: `columns ${schema.id} ${name}`,
      columns: columns(entity, (id) => address({ id })), order: state.sort,
      filter: async (condition) => { location.hash = address({ where: await conjunction(query.where, condition), id: "" }); },
      values: (property) => get("values", { ...query, property }),
      exported: (shown) => ({ name, parameters: { ...query, sort: state.sort, column: shown } }),
      load: async ({ offset, limit, token, signal }) => {
        const page = await get("objects", { ...query, sort: state.sort, offset: token ? "" : offset, limit, token }, signal);
        return { ...page, rows: page.rows.map((row) => stagedRow(entity, row)) };
      },
      open: (id) => { location.hash = address({ id }); },
      sort: (sort) => { location.hash = address({ where: query.where, sort }); },
      failed: (error) => { if (own === grid) failed(error); },
    });
    grid = own;
    grid.where = query.where;
    show(table, grid.element);
    show(tools, grid.columnsButton, grid.exportButton);
    if (hadFocus) grid.element.focus();
    try {
      total = total || await get("count", query);
      // The count is of an earlier condition.
      if (own !== grid) return;
      showConditions(conditions, query.where, (where) => { location.hash = address({ where, id: "" }); });
      grid.setTotal(total.count);
      markNamed(place === null);
      show(summary, el("strong", {}, plural(total.count, "object")),
        state.where ? ` of ${count(entity.count)}` : "",
        el("span", { class: "faint" }, ` · counted in ${milliseconds(total.milliseconds)}`));
    } catch (error) {
      if (own === grid) failed(error);
    }
  }

  /** Highlights the row of the object in the address, and scrolls to it if it isn't visible. */
  async function markNamed(isScrolled) {
    const own = grid;
    const id = parameterOfAddress("id");
    own.name(id || "");
    if (!id || !isScrolled || own.nameAt(own.place.row) === id) return;
    try {
      const { position } = await get("position", { entity: name, where: state.where, sort: state.sort, id });
      if (own === grid && id === parameterOfAddress("id") && position !== null) own.name(id, position);
    } catch {
      // The object's own view shows the error.
    }
  }

  function failed(error) {
    // The rows and their number are those of the last condition that succeeded.
    if (!grid || grid.where === state.where) {
      if (grid) grid.setTotal(0);
      show(summary, "\u00a0");
    }
    if (error.code === "invalidPredicate" || error.column) box.fail(error);
    else show(summary, failure(error));
  }

  async function showObject(id) {
    const own = ++shownObject;
    detail.hidden = !id;
    main.classList.toggle("with-detail", Boolean(id));
    if (!id) return show(detail);
    try {
      const object = await get("object", { id });
      if (own !== shownObject) return;
      const isNarrow = matchMedia("(max-width: 760px)").matches;
      show(detail, objectView(schema, object, () => { location.hash = address({ id: "" }); },
        (form) => show(detail, form), () => showObject(id)));
      if (isNarrow) detail.querySelector("button").focus();
    } catch (error) {
      if (own !== shownObject) return;
      show(detail, closeButton(() => { location.hash = address({ id: "" }); }), failure(error));
    }
  }

  const onKey = (event) => {
    if (event.key !== "Escape" || detail.hidden) return;
    if (parameterOfAddress("id")) location.hash = address({ id: "" });
    else showObject("");
    if (grid) grid.element.focus();
  };
  main.onkeydown = onKey;

  function showInsertion(edit) {
    detail.hidden = false;
    main.classList.add("with-detail");
    const own = edit ? schema.entities.find((each) => each.name === edit.entity) : entity;
    show(detail, insertForm(schema, own, () => showObject(""), edit));
    const field = detail.querySelector("input, select, textarea");
    if (field) field.focus();
  }

  const insert = schema.canWrite && !entity.isAbstract && el("button", {
    type: "button", onclick: () => showInsertion(null),
  }, `New ${name}`);

  /** The staged new objects, which the table doesn't contain yet. */
  const pending = el("div", { class: "pending", role: "group", "aria-label": "Staged new objects" });
  const showPending = () => show(pending, stagedObjects(schema, name).map(({ object }) => el("button", {
    type: "button", class: "staged", onclick: () => showInsertion(stagedFor(object)),
  }, object)));
  const endStaging = onStaged(() => {
    showPending();
    if (grid) grid.reload();
    const id = parameterOfAddress("id");
    if (id && !detail.querySelector(".edit")) showObject(id);
  });
  showPending();

  let list = entityList(schema, name);
  show(main, list,
    el("section", { class: "content", "aria-label": name },
      el("div", { class: "bar" }, box.element, insert || null),
      conditions, el("div", { class: "line" }, summary, tools), pending, table), detail);
  const loading = load();
  await showObject(parameters.get("id"));
  await loading;

  return {
    end() {
      if (main.onkeydown === onKey) main.onkeydown = null;
      endStaging();
      shownObject++;
      if (grid) grid.end();
    },
    update(nextRest, next) {
      if ((nextRest[0] || name) !== name) return false;
      const [where, sort] = [next.get("where") || "", next.get("sort") || ""];
      if (where !== state.where || sort !== state.sort) {
        state = { where, sort };
        box.value = where;
        load();
      } else if (keptPlace()) {
        grid.restore(keptPlace());
        markNamed(false);
      } else {
        keepPlace(grid.place);
        markNamed(true);
      }
      showObject(next.get("id"));
      return true;
    },
    refresh(changed) {
      if (grid) keepPlace(grid.place);
      entity = changed.entities.find((each) => each.name === name) || entity;
      schema = changed;
      list = replaceList(list, entityList(schema, name));
      load();
      showObject(parameterOfAddress("id"));
    },
  };
}

function parameterOfAddress(name) {
  return new URLSearchParams(location.hash.split("?")[1] || "").get(name);
}

/** The entities: a list beside the table, or a menu on narrow screens. */
function entityList(schema, name) {
  return el("nav", { class: "side", "aria-label": "Entities" },
    el("ul", {}, schema.entities.map((each) => el("li", {}, el("a", {
      href: `#/objects/${encodeURIComponent(each.name)}`,
      "aria-current": each.name === name ? "page" : null, class: each.isAbstract ? "abstract" : null,
    }, el("span", {}, each.name), el("span", { class: "count" }, count(each.count)))))),
    el("label", { class: "menu" }, el("span", { class: "hidden" }, "Entity"),
      el("select", {
        onchange: (event) => { location.hash = `#/objects/${encodeURIComponent(event.target.value)}`; },
      }, schema.entities.map((each) => el("option", {
        value: each.name, selected: each.name === name,
      }, `${each.name} (${count(each.count)})`)))));
}

function closeButton(close) {
  return el("button", { type: "button", class: "close quiet", "aria-label": "Close", onclick: close }, "✕");
}

/** One object with all of its properties. */
function objectView(schema, object, close, replace, again) {
  const entity = schema.entities.find((each) => each.name === object.entity);
  const edit = schema.canWrite && el("button", {
    type: "button", onclick: () => replace(editForm(schema, entity, object, again)),
  }, "Edit");
  return [
    el("header", {}, el("div", {}, el("p", { class: "code faint" }, object.id),
      el("h2", {}, object.label || object.id)), closeButton(close)),
    stagedBanner(object),
    el("dl", { class: "values" }, Object.entries(object.attributes).map(([name, value]) => [
      el("dt", {}, name), el("dd", {}, whole(stagedValue(object, name, value), object.id, name)),
    ])),
    Object.entries(object.relationships).map(([name, value]) => relationship(object, name, value)),
    edit ? el("div", { class: "actions" }, edit) : null,
  ];
}

/** A banner for the staged changes of an object, with a button that discards them. */
function stagedBanner(object) {
  const edit = stagedFor(object.id);
  if (!edit) return null;
  return el("div", { class: "banner" },
    edit.op === "delete" ? "Staged for deletion" : `${plural(Object.keys(edit.values).length, "staged change")}`,
    el("button", { type: "button", class: "quiet", onclick: () => unstage(edit) }, "Discard"));
}

function relationship(object, name, value) {
  const isToMany = value && "members" in value;
  const staged = stagedValue(object, name, value);
  const list = el("ul", { class: "links" });
  const add = (members) => list.append(...members.map((each) => el("li", {}, link(each))));
  if (isToMany) add(value.members);
  else if (value) add([value]);
  const more = isToMany && value.count > value.members.length && el("button", {
    type: "button", class: "quiet", onclick: async () => {
      const next = await get("members", {
        id: object.id, relationship: name, offset: list.children.length, limit: 200,
      });
      add(next.members);
      if (list.children.length >= next.count || !next.members.length) more.remove();
    },
  }, "Show more");
  return el("section", { class: "relationship" },
    el("h3", {}, name, isToMany ? el("span", { class: "count" }, count(value.count)) : null),
    staged !== value ? el("p", {}, cell(staged)) : null,
    list.children.length ? list : el("p", { class: "nil" }, isToMany ? "none" : "nil"), more || null);
}
