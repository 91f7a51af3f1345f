// Orthogonal lines between boxes that lead around all boxes.
//
// Lines run on a grid of coordinates beside the boxes. Each is the cheapest path by length, bends,
// and the parts that it shares with earlier lines (A*).

/** The distance between a box and the nearest line that passes it. */
export const margin = 18;
const bend = 40;
const shared = 30;
/** With more boxes, lines share one track beside each box, which keeps the grid small. */
const mostWithTracks = 60;

/** A queue of values with priorities, the lowest first. */
class Queue {
  #items = [];
  get isEmpty() { return this.#items.length === 0; }
  push(cost, value) {
    const items = this.#items;
    let place = items.push([cost, value]) - 1;
    while (place > 0 && items[(place - 1) >> 1][0] > cost) {
      items[place] = items[(place - 1) >> 1];
      place = (place - 1) >> 1;
    }
    items[place] = [cost, value];
  }
  pop() {
    const items = this.#items;
    const [, first] = items[0];
    const last = items.pop();
    if (!items.length) return first;
    let place = 0;
    for (;;) {
      let next = 2 * place + 1;
      if (next + 1 < items.length && items[next + 1][0] < items[next][0]) next++;
      if (next >= items.length || items[next][0] >= last[0]) break;
      items[place] = items[next];
      place = next;
    }
    items[place] = last;
    return first;
  }
}

function sorted(numbers) {
  return [...new Set(numbers.map((each) => Math.round(each)))].sort((a, b) => a - b);
}

/** The index of the first number that is not below a limit. */
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
 * The points where a line can bend, and the steps between neighbours: which of them boxes block, and
 * which lines use them.
 */
class Grid {
  constructor(boxes, xs, ys) {
    this.xs = sorted(xs);
    this.ys = sorted(ys);
    const size = this.xs.length * this.ys.length;
    // A step belongs to its left or upper point.
    this.isBlocked = [new Uint8Array(size), new Uint8Array(size)];
    this.users = [new Int32Array(size).fill(-1), new Int32Array(size).fill(-1)];
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

  /** Notes the use of a straight line between two points by an owner. */
  use(a, b, owner) {
    const [x1, x2] = [a.x, b.x].map((x) => firstIndex(this.xs, x)).sort((p, q) => p - q);
    const [y1, y2] = [a.y, b.y].map((y) => firstIndex(this.ys, y)).sort((p, q) => p - q);
    for (let ix = x1; ix < x2; ix++) this.users[0][this.at(ix, y1)] = owner;
    for (let iy = y1; iy < y2; iy++) this.users[1][this.at(x1, iy)] = owner;
  }
}

/** The places where a line can leave a box: beside a property, or above and below for inheritance. */
export function ports(box, kind, top, isParent) {
  const middle = Math.round(box.x + box.width / 2);
  if (kind === "inherits") {
    return isParent ? [{ x: middle, y: Math.round(box.y + box.height), dx: 0, dy: 1 }] : [{ x: middle, y: Math.round(box.y), dx: 0, dy: -1 }];
  }
  const y = Math.round(box.y + top);
  return [{ x: Math.round(box.x + box.width), y, dx: 1, dy: 0 }, { x: Math.round(box.x), y, dx: -1, dy: 0 }];
}

const stub = (port) => ({ x: port.x + port.dx * margin, y: port.y + port.dy * margin });

/** The cheapest path from one of some ports to one of others, or null if there is none. */
function path(grid, starts, goals, owner) {
  const { xs, ys } = grid;
  const place = (port) => [firstIndex(xs, stub(port).x), firstIndex(ys, stub(port).y)];
  const keyOf = (ix, iy, isVertical) => grid.at(ix, iy) * 2 + isVertical;
  const targets = goals.map(stub);
  const left = (ix, iy) => Math.min(...targets.map((each) => Math.abs(xs[ix] - each.x) + Math.abs(ys[iy] - each.y)));
  const ends = new Map();
  for (const goal of goals) for (const isVertical of [0, 1]) {
    ends.set(keyOf(...place(goal), isVertical), { goal, extra: isVertical === Math.abs(goal.dy) ? 0 : bend });
  }
  const costs = new Map();
  const before = new Map();
  const queue = new Queue();
  for (const start of starts) {
    const [ix, iy] = place(start);
    const isVertical = Math.abs(start.dy);
    costs.set(keyOf(ix, iy, isVertical), 0);
    queue.push(left(ix, iy), { ix, iy, isVertical, cost: 0, start });
  }
  let best = null;
  while (!queue.isEmpty) {
    const now = queue.pop();
    const key = keyOf(now.ix, now.iy, now.isVertical);
    if (now.cost > costs.get(key)) continue;
    if (best && now.cost + left(now.ix, now.iy) >= best.cost) break;
    const end = ends.get(key);
    if (end) best = { now, goal: end.goal, cost: now.cost + end.extra };
    for (const [dx, dy] of [[1, 0], [-1, 0], [0, 1], [0, -1]]) {
      const [ix, iy] = [now.ix + dx, now.iy + dy];
      if (ix < 0 || iy < 0 || ix >= xs.length || iy >= ys.length) continue;
      const isVertical = dy === 0 ? 0 : 1;
      const step = grid.at(Math.min(ix, now.ix), Math.min(iy, now.iy));
      if (grid.isBlocked[isVertical][step]) continue;
      const length = Math.abs(xs[ix] - xs[now.ix]) + Math.abs(ys[iy] - ys[now.iy]);
      const user = grid.users[isVertical][step];
      const cost = now.cost + length + (isVertical === now.isVertical ? 0 : bend)
        + (user >= 0 && user !== owner ? shared + 2 * length : 0);
      const next = keyOf(ix, iy, isVertical);
      if (cost >= (costs.get(next) ?? Infinity)) continue;
      costs.set(next, cost);
      before.set(next, now);
      queue.push(cost + left(ix, iy), { ix, iy, isVertical, cost, start: now.start });
    }
  }
  if (!best) return null;
  const { goal, now: { start } } = best;
  const points = [{ x: goal.x, y: goal.y }, stub(goal)];
  for (let step = best.now; step; step = step.cost ? before.get(keyOf(step.ix, step.iy, step.isVertical)) : null) {
    points.push({ x: xs[step.ix], y: ys[step.iy] });
  }
  points.push({ x: start.x, y: start.y });
  return { points: straightened(points.reverse()), start, goal };
}

/** Points without those that lie on a straight line between their neighbours. */
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
 * A line is `{from, to, kind, fromTop, toTop}`, with the heights at which it meets its boxes. Lines of
 * inheritance to one parent join. Returns `{points, start, goal}` for each, or null where boxes that
 * touch leave no way.
 */
export function routeAll(boxes, lines) {
  const all = [...boxes.values()].map(({ x, y, width, height }) => ({ x: Math.round(x), y: Math.round(y), width, height: Math.round(height) }));
  const beside = all.length > mostWithTracks ? [margin] : [margin, margin + 12, margin + 24];
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
    const found = path(grid, starts, goals, owner);
    if (found) for (let place = 1; place < found.points.length; place++) grid.use(found.points[place - 1], found.points[place], owner);
    return found;
  });
}
