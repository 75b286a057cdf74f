// Elements and pictures. Text always enters as text: nothing from the data is ever read as markup.

const SVG = "http://www.w3.org/2000/svg";

function element(name, properties = {}, ...children) {
  const node = document.createElement(name);
  return filled(node, properties, children);
}

function drawn(name, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, name), properties, children);
}

function filled(node, properties, children) {
  for (const [key, value] of Object.entries(properties)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...present(children));
  return node;
}

const present = (children) => children.flat().filter((child) => child !== null && child !== undefined);

const short = (text, most = 28) => (Array.from(text).length > most ? `${Array.from(text).slice(0, most - 1).join("")}\u2026` : text);

// As much of a name as fits beside a picture.
const pen = document.createElement("canvas").getContext("2d");
pen.font = "12px system-ui, sans-serif";

function fitted(words, room) {
  const letters = Array.from(words).slice(0, 80);
  if (letters.length === Array.from(words).length && pen.measureText(words).width <= room) return words;
  while (letters.length > 1 && pen.measureText(`${letters.join("")}\u2026`).width > room) letters.pop();
  return `${letters.join("")}\u2026`;
}

function picture(width, height, label, ...children) {
  return drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label }, ...children);
}

const text = (x, y, words, properties = {}) => drawn("text", { x, y, ...properties }, words);
const line = (x1, y1, x2, y2, kind) => drawn("line", { x1, y1, x2, y2, class: kind });

// A scale from data to pixels, with round ticks.
function scale(from, to, start, end) {
  const span = to - from || 1;
  const at = (value) => start + ((value - from) / span) * (end - start);
  return Object.assign(at, { from, to });
}

function ticks(from, to, about = 5) {
  const raw = (to - from) / about || 1;
  const power = 10 ** Math.floor(Math.log10(raw));
  const steps = [0.5, 1, 2, 5, 10].map((factor) => factor * power);
  const place = steps.findIndex((size) => size >= raw * 0.999);
  const wide = multiples(from, to, steps[place]);
  return wide.length < 3 ? multiples(from, to, steps[place - 1]) : wide;
}

function multiples(from, to, step) {
  const found = [];
  for (let k = Math.ceil(from / step - 1e-9); k * step <= to + step * 1e-9; k += 1) found.push(k * step || 0);
  return found;
}

// Room around the values, and never an empty range.
function padded(values, least = 0.01) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const room = Math.max((high - low) * 0.08, least / 2);
  return [low - room, high + room];
}

// A name of any length and direction: a few lines of it, the whole when pointed at.
const named = (words) => element("bdi", { class: "name", title: words.length > 60 ? words : null }, words);

// A table with row headers; cells are text or nodes. `scroll` makes wide ones reachable by keyboard.
function table(label, columns, rows) {
  const head = columns.map((column) => column.head || element("th", { scope: "col", class: classOf(column) }, column.name));
  const body = element("tbody", {}, rows.map((row) => tableRow(columns, row)));
  const whole = element("table", {}, element("thead", {}, element("tr", {}, head)), body);
  return Object.assign(element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, whole), { body });
}

const FIRST_ROWS = 10;

// A table that begins with a few rows and shows the others when asked to; paper shows them all.
function longTable(label, columns, rows) {
  const whole = table(label, columns, rows);
  const rest = [...whole.body.children].slice(FIRST_ROWS);
  if (rest.length < 3) return [whole];
  const show = (all) => {
    for (const row of rest) row.hidden = !all;
    button.textContent = all ? `Show the first ${FIRST_ROWS} only` : `Show all ${count(rows.length)}`;
    button.setAttribute("aria-expanded", all);
  };
  const button = element("button", { type: "button", class: "all", onclick: () => show(rest[0].hidden) });
  show(false);
  return [whole, button];
}

const classOf = (column) => [column.text && "text", column.kind].filter(Boolean).join(" ") || null;

// Two names in the first cell of a row: on a phone there is no room for a column each.
const joined = (first, second) => element("span", {}, named(first), element("small", { class: "with" }, "with ", named(second)));

function tableRow(columns, row) {
  return element(
    "tr",
    {},
    row.map((cell, place) => {
      const column = columns[place];
      const shown = column.text && typeof cell === "string" ? named(cell) : cell;
      return element(place === 0 ? "th" : "td", { scope: place === 0 ? "row" : null, class: classOf(column) }, shown);
    }),
  );
}

// Forest plots: a column of intervals on one scale, whose axis is the column's head.
const FOREST = 136;

function forestScale(values) {
  return scale(...padded(values), 8, FOREST - 8);
}

function forestHead(at, show) {
  let taken = -6;
  const marks = ticks(at.from, at.to, 3).flatMap((value) => {
    const words = show(value, Math.abs(at.to - at.from) < 0.02 ? 1 : 0);
    const half = pen.measureText(words).width / 2;
    const x = Math.min(Math.max(at(value), half), FOREST - half);
    const room = x - half >= taken + 6;
    if (room) taken = x + half;
    return [line(at(value), 17, at(value), 22, "zero"), room ? text(x, 12, words, { "text-anchor": "middle" }) : null];
  });
  return element("th", { scope: "col", class: "forest" }, element("span", { class: "hidden" }, "Drawn"), forestPicture(marks));
}

function forestRow(at, mean, ends) {
  const parts = ticks(at.from, at.to, 3).map((value) => line(at(value), 0, at(value), 22, Math.abs(value) < 1e-12 ? "zero" : "axis"));
  if (ends) parts.push(line(at(ends[0]), 11, at(ends[1]), 11, "interval"));
  parts.push(drawn("circle", { cx: at(mean), cy: 11, r: 4, class: "dot" }));
  return forestPicture(parts);
}

const forestPicture = (parts) => drawn("svg", { width: FOREST, height: 22, viewBox: `0 0 ${FOREST} 22`, "aria-hidden": "true" }, parts);

// Paper does not wait until a picture that was folded away is drawn.
const pictures = [];
const redrawAll = () => pictures.forEach((redraw) => redraw());

// A picture that is drawn anew when its width changes, so that its text keeps its size.
function responsive(draw, caption) {
  const holder = element("div");
  const whole = element("figure", {}, holder, element("figcaption", {}, caption));
  const redraw = () => {
    const width = Math.round(Math.max(260, holder.clientWidth || 640));
    holder.replaceChildren(draw(width));
  };
  pictures.push(redraw);
  let before = 0;
  new ResizeObserver(() => {
    if (holder.clientWidth !== before) {
      before = holder.clientWidth;
      redraw();
    }
  }).observe(holder);
  return Object.assign(whole, { redraw });
}
