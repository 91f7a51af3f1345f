// Routes orthogonal lines between boxes around all other boxes.
//
// Lines run on a grid of coordinates beside the boxes. Each is the cheapest path by length, bends,
// and the parts that it shares with earlier lines (A*).

/** The distance between a box and the nearest line that passes it. */
export const margin = 18;
const bend = 40;
const shared = 30;
/** The weight of the distance to the goal. Above 1, the search is faster, but paths may be longer. */
const haste = 1.15;
/** The usual limit of detours beyond the ends of a line. Longer ones are only tried if necessary. */
const usualDetour = 400;
/** The cost factor of lines through boxes. */
const throughBoxes = 100;
/** With more boxes, lines share one track beside each box, which keeps the grid small. */
const maximumTrackedBoxes = 60;

/** A priority queue of integers, lowest priority first. */
class Queue {
  #costs = [];
  #values = [];
  get isEmpty() { return this.#values.length === 0; }
  clear() { this.#costs.length = this.#values.length = 0; }
  push(cost, value) {
    const [costs, values] = [this.#costs, this.#values];
    let place = values.length;
    while (place > 0) {
      const parent = (place - 1) >> 1;
      if (costs[parent] <= cost) break;
      costs[place] = costs[parent];
      values[place] = values[parent];
      place = parent;
    }
    costs[place] = cost;
    values[place] = value;
  }
  pop() {
    const [costs, values] = [this.#costs, this.#values];
    const first = values[0];
    const [cost, value] = [costs.pop(), values.pop()];
    const { length } = values;
    if (!length) return first;
    let place = 0;
    for (;;) {
      let next = 2 * place + 1;
      if (next >= length) break;
      if (next + 1 < length && costs[next + 1] < costs[next]) next++;
      if (costs[next] >= cost) break;
      costs[place] = costs[next];
      values[place] = values[next];
      place = next;
    }
    costs[place] = cost;
    values[place] = value;
    return first;
  }
}

function sorted(numbers) {
  return [...new Set(numbers.map((each) => Math.round(each)))].sort((a, b) => a - b);
}

/** Returns the index of the first number that is at least `limit`. */
function firstIndex(numbers, limit) {
  let [low, high] = [0, numbers.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (numbers[middle] < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The points where lines can bend, and the steps between neighbors, with the boxes that block them and
 * the lines that use them. A search state is a point with a direction, `2 * point + isVertical`.
 */
class Grid {
  constructor(boxes, xs, ys) {
    this.xs = sorted(xs);
    this.ys = sorted(ys);
    const size = this.xs.length * this.ys.length;
    // A step belongs to its left or upper point.
    this.isBlocked = [new Uint8Array(size), new Uint8Array(size)];
    this.users = [new Int32Array(size).fill(-1), new Int32Array(size).fill(-1)];
    // The results of a search for each point and direction, valid for the search with the stored number.
    this.searches = 0;
    this.found = new Int32Array(2 * size);
    this.costs = new Float64Array(2 * size);
    this.before = new Int32Array(2 * size);
    this.visited = new Int32Array(2 * size);
    this.queue = new Queue();
    for (const box of boxes) this.#block(box);
  }

  at(ix, iy) { return ix * this.ys.length + iy; }

  #block(box) {
    const near = margin - 1;
    const [left, right] = [firstIndex(this.xs, box.x - near), firstIndex(this.xs, box.x + box.width + near)];
    const [top, bottom] = [firstIndex(this.ys, box.y - near), firstIndex(this.ys, box.y + box.height + near)];
    for (let ix = Math.max(0, left - 1); ix < right; ix++) {
      for (let iy = top; iy < bottom; iy++) this.isBlocked[0][this.at(ix, iy)] = 1;
    }
    for (let iy = Math.max(0, top - 1); iy < bottom; iy++) {
      for (let ix = left; ix < right; ix++) this.isBlocked[1][this.at(ix, iy)] = 1;
    }
  }

  /** Records that an owner uses the straight line between two points. */
  use(a, b, owner) {
    const [x1, x2] = [a.x, b.x].map((x) => firstIndex(this.xs, x)).sort((p, q) => p - q);
    const [y1, y2] = [a.y, b.y].map((y) => firstIndex(this.ys, y)).sort((p, q) => p - q);
    for (let ix = x1; ix < x2; ix++) this.users[0][this.at(ix, y1)] = owner;
    for (let iy = y1; iy < y2; iy++) this.users[1][this.at(x1, iy)] = owner;
  }
}

/** Returns the points where a line can leave a box: beside a property, or for inheritance above or below. */
export function ports(box, kind, top, isParent) {
  const middle = Math.round(box.x + box.width / 2);
  if (kind === "inherits") {
    return isParent ? [{ x: middle, y: Math.round(box.y + box.height), dx: 0, dy: 1 }] : [{ x: middle, y: Math.round(box.y), dx: 0, dy: -1 }];
  }
  const y = Math.round(box.y + top);
  return [{ x: Math.round(box.x + box.width), y, dx: 1, dy: 0 }, { x: Math.round(box.x), y, dx: -1, dy: 0 }];
}

const stub = (port) => ({ x: port.x + port.dx * margin, y: port.y + port.dy * margin });

/**
 * Returns the cheapest path between two sets of ports that extends at most `detour` beyond them, or null
 * if there isn't one. Steps through boxes cost `through` times their length; without `through`, they are
 * not allowed.
 */
function path(grid, starts, goals, owner, detour, through = 0) {
  const { xs, ys, isBlocked, users, found, costs, before, visited, queue } = grid;
  const height = ys.length;
  const search = ++grid.searches;
  const stateOf = (port, isVertical) => 2 * grid.at(firstIndex(xs, stub(port).x), firstIndex(ys, stub(port).y)) + isVertical;
  const targets = goals.map(stub);
  const all = [...starts, ...goals].map(stub);
  const range = (numbers, own) => [firstIndex(numbers, Math.min(...own) - detour), firstIndex(numbers, Math.max(...own) + detour + 1) - 1];
  const [left, right] = range(xs, all.map((each) => each.x));
  const [top, bottom] = range(ys, all.map((each) => each.y));
  /** Returns a lower bound of the cost from a point to a goal: the distance and the necessary bends. */
  const rest = (ix, iy, isVertical) => {
    let least = Infinity;
    for (let index = 0; index < goals.length; index++) {
      const dx = Math.abs(xs[ix] - targets[index].x);
      const dy = Math.abs(ys[iy] - targets[index].y);
      const endsVertical = goals[index].dx === 0 ? 1 : 0;
      const bends = isVertical !== endsVertical ? 1 : (isVertical ? dx : dy) ? 2 : 0;
      least = Math.min(least, dx + dy + bends * bend);
    }
    return least * haste;
  };
  const ends = new Map(goals.flatMap((goal) => [0, 1].map((isVertical) =>
    [stateOf(goal, isVertical), { goal, extra: isVertical === Math.abs(goal.dy) ? 0 : bend }])));
  queue.clear();

  function reach(state, ix, iy, cost, former) {
    if (found[state] === search && cost >= costs[state]) return;
    found[state] = search;
    costs[state] = cost;
    before[state] = former;
    visited[state] = 0;
    queue.push(cost + rest(ix, iy, state & 1), state);
  }

  for (const start of starts) {
    const state = stateOf(start, Math.abs(start.dy));
    reach(state, Math.floor((state >> 1) / height), (state >> 1) % height, 0, -1);
  }
  let best = null;
  while (!queue.isEmpty) {
    const now = queue.pop();
    if (visited[now] === search) continue;
    visited[now] = search;
    const [point, wasVertical, soFar] = [now >> 1, now & 1, costs[now]];
    const [x, y] = [Math.floor(point / height), point % height];
    if (best && soFar + rest(x, y, wasVertical) >= best.cost) break;
    const end = ends.get(now);
    if (end && (!best || soFar + end.extra < best.cost)) best = { state: now, goal: end.goal, cost: soFar + end.extra };
    for (let side = 0; side < 4; side++) {
      const isVertical = side >> 1;
      const forward = side & 1;
      const ix = isVertical ? x : x + (forward ? 1 : -1);
      const iy = isVertical ? y + (forward ? 1 : -1) : y;
      if (ix < left || iy < top || ix > right || iy > bottom) continue;
      // A step belongs to its left or upper point.
      const step = forward ? point : ix * height + iy;
      const length = isVertical ? Math.abs(ys[iy] - ys[y]) : Math.abs(xs[ix] - xs[x]);
      let cost = soFar + length + (isVertical === wasVertical ? 0 : bend);
      if (isBlocked[isVertical][step]) {
        if (!through) continue;
        cost += through * length;
      }
      const user = users[isVertical][step];
      if (user >= 0 && user !== owner) cost += shared + 2 * length;
      reach(2 * (ix * height + iy) + isVertical, ix, iy, cost, now);
    }
  }
  if (!best) return null;
  const points = [{ x: best.goal.x, y: best.goal.y }];
  let first = best.state;
  for (let state = best.state; state >= 0; state = before[state]) {
    points.push({ x: xs[Math.floor((state >> 1) / height)], y: ys[(state >> 1) % height] });
    first = state;
  }
  const start = starts.find((each) => stateOf(each, Math.abs(each.dy)) === first);
  points.push({ x: start.x, y: start.y });
  return { points: straightened(points.reverse()), start, goal: best.goal };
}

/** Removes points on a straight line between their neighbors. */
function straightened(points) {
  const distinct = points.filter((each, index) => !index || each.x !== points[index - 1].x || each.y !== points[index - 1].y);
  return distinct.filter((each, index) => {
    const [before, after] = [distinct[index - 1], distinct[index + 1]];
    if (!before || !after) return true;
    return !(before.x === each.x && each.x === after.x || before.y === each.y && each.y === after.y);
  });
}

/**
 * Routes lines between boxes, a map by name.
 *
 * A line is `{from, to, kind, fromTop, toTop}`, with the heights at which it meets its boxes. Inheritance
 * lines to the same parent are joined. Returns `{points, start, goal}` for each line. A line crosses boxes
 * only if boxes that touch leave no other path.
 */
export function routeAll(boxes, lines) {
  const all = [...boxes.values()].map(({ x, y, width, height }) => ({ x: Math.round(x), y: Math.round(y), width, height: Math.round(height) }));
  const beside = all.length > maximumTrackedBoxes ? [margin] : [margin, margin + 12, margin + 24];
  const ends = lines.map((line, index) => {
    const isLoop = line.from === line.to;
    const starts = ports(boxes.get(line.from), line.kind, line.fromTop, false);
    const goals = ports(boxes.get(line.to), line.kind, line.toTop + (isLoop && line.fromTop === line.toTop ? 14 : 0), true);
    const owner = line.kind === "inherits" ? lines.findIndex((each) => each.kind === "inherits" && each.to === line.to) : index;
    return { starts: isLoop ? starts.slice(0, 1) : starts, goals: isLoop ? goals.slice(0, 1) : goals, owner };
  });
  const stubs = ends.flatMap((each) => [...each.starts, ...each.goals]).map(stub);
  const grid = new Grid(all,
    [...all.flatMap((box) => beside.flatMap((each) => [box.x - each, box.x + box.width + each])), ...stubs.map((each) => each.x)],
    [...all.flatMap((box) => beside.slice(0, 2).flatMap((each) => [box.y - each, box.y + box.height + each])), ...stubs.map((each) => each.y)]);
  return ends.map(({ starts, goals, owner }) => {
    const found = path(grid, starts, goals, owner, usualDetour) || path(grid, starts, goals, owner, Infinity)
      || path(grid, starts, goals, owner, Infinity, throughBoxes);
    for (let place = 1; place < found.points.length; place++) grid.use(found.points[place - 1], found.points[place], owner);
    return found;
  });
}
