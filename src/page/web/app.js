"use strict";
/* The page of `snip serve`: one state, four panels, no framework. What the server says is only ever
 * put into the page as text or through createElement, so names and formulas can hold anything. */

const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg", MATH = "http://www.w3.org/1998/Math/MathML";
const token = new URLSearchParams(location.search).get("token");
const state = { table: null, fit: null, formula: "", tab: "table", history: [] };
let info = { operators: {}, examples: [] }, table = null, front = null, events = null, chosen = null;

/* ---- talking to the server ---- */

function address(path) {
  return token ? path + (path.includes("?") ? "&" : "?") + "token=" + encodeURIComponent(token) : path;
}

async function ask(path, body, type) {
  const how = body === undefined ? {} : {
    method: "POST",
    headers: { "Content-Type": type || "application/json" },
    body: type ? body : JSON.stringify(body),
  };
  let answer;
  try {
    /* An error about a table or a formula is an answer; another status than 200 would be logged. */
    const reply = await fetch(address(path + (path.includes("?") ? "&" : "?") + "status=200"), how);
    answer = await reply.json();
    if (!reply.ok) answer.status = reply.status;
  } catch {
    throw { error: "The server does not answer. Is snip serve still running?" };
  }
  if (answer.status) throw answer;
  return answer;
}

function complain(error) {
  $("message").textContent = error ? error.error || String(error) : "";
  $("message").hidden = !error;
}

function save() {
  try {
    sessionStorage.setItem("snip", JSON.stringify(state));
  } catch { /* a page without storage works, but forgets */ }
}

/* ---- elements ---- */

function element(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attributes || {})) {
    if (typeof v === "function") e.addEventListener(k.slice(2), v);
    else if (v === true) e.setAttribute(k, "");
    else if (v !== false && v !== null) e.setAttribute(k, v);
  }
  e.append(...children);
  return e;
}

function shape(tag, attributes, ...children) {
  const e = document.createElementNS(SVG, tag);
  for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
  e.append(...children);
  return e;
}

function short(v) {
  if (v === null || v === undefined || !isFinite(v)) return "–";
  const size = Math.abs(v);
  return size !== 0 && (size < 1e-4 || size >= 1e6) ? v.toExponential(2) : String(+v.toPrecision(5));
}

/* A formula with the first six digits of its numbers, to look at. */
function shortened(formula) {
  return formula.replace(/\b\d+\.\d+(e[-+]?\d+)?/gi, (n) => String(+Number(n).toPrecision(6)));
}

/* The share of the variance that is not explained, of held-out rows where there are any. R² itself
 * would be 1 for all good formulas. */
function unexplained(errors) {
  const r2 = errors.r2_val ?? errors.r2_train;
  return short(r2 === null || r2 === undefined ? null : Math.max(1 - r2, 0));
}

function rows(where, head, body) {
  where.replaceChildren(
    element("thead", {}, element("tr", {}, ...head.map((h) => element("th", { class: h.text ? "text" : null, scope: "col" }, h.name)))),
    element("tbody", {}, ...body));
}

/* ---- formulas as MathML ---- */

function math(tag, ...children) {
  const e = document.createElementNS(MATH, tag);
  e.append(...children);
  return e;
}

/* The tree of prefix text: add,2.0,x_0. */
function parsePrefix(text) {
  const words = text.split(",");
  let at = 0;
  const read = () => {
    const word = words[at++];
    const arity = info.operators[word] || 0, kids = [];
    for (let k = 0; k < arity; k++) kids.push(read());
    return { word, kids };
  };
  return read();
}

/* MathML of a number and how tightly it binds: 5.1 · 10 to the −5 where that is shorter. */
function typesetNumber(word) {
  const v = Number(word), text = (s) => s.replace("-", "\u2212");
  if (!isFinite(v)) return [math("mn", word), FUNCTION];
  const size = Math.abs(v);
  if (size === 0 || (size >= 1e-3 && size < 1e6)) return [math("mn", text(String(+v.toPrecision(6)))), v < 0 ? SUM : FUNCTION];
  const [digits, power] = v.toExponential(5).split("e");
  return [math("mrow", math("mn", text(String(+digits))), math("mo", "\u00b7"), math("msup", math("mn", "10"), math("mn", text(String(+power))))), v < 0 ? SUM : PRODUCT];
}

const names = { pi: "\u03c0", e: "e", euler_gamma: "\u03b3" };
const FUNCTION = 4, POWER = 3, PRODUCT = 2, SUM = 1;

/* Brackets grow with a fraction and with nothing else. */
function fenced(inner, need) {
  if (!need) return inner;
  const around = [math("mo", "("), math("mo", ")")];
  const tall = inner.localName === "mfrac" || inner.querySelector("mfrac");
  for (const e of around) e.setAttribute("stretchy", String(Boolean(tall)));
  return math("mrow", around[0], inner, around[1]);
}

function thinSpace() {
  const e = math("mspace");
  e.setAttribute("width", ".17em");
  return e;
}

/* MathML of a tree and how tightly it binds. */
function typeset(t, inputs) {
  const kid = (k, least) => {
    const [e, binds] = typeset(t.kids[k], inputs);
    return fenced(e, binds < least);
  };
  switch (t.word) {
    case "add":
    case "sub": {
      const minus = t.word === "sub";
      return [math("mrow", kid(0, SUM), math("mo", minus ? "\u2212" : "+"), kid(1, minus ? PRODUCT : SUM)), SUM];
    }
    case "mul": {
      const dot = /^[-\d.]/.test(t.kids[1].word) || (t.kids[1].kids[0] && /^[-\d.]/.test(t.kids[1].kids[0].word));
      const [first, binds] = typeset(t.kids[0], inputs), minus = binds === SUM && /^-[\d.]/.test(t.kids[0].word); /* -3 x needs no brackets */
      return [math("mrow", fenced(first, binds < PRODUCT && !minus), dot ? math("mo", "\u00b7") : thinSpace(), kid(1, PRODUCT)), minus ? SUM : PRODUCT];
    }
    case "div": return [math("mfrac", kid(0, 0), kid(1, 0)), POWER];
    case "inv": return [math("mfrac", math("mn", "1"), kid(0, 0)), POWER];
    case "neg": return [math("mrow", math("mo", "\u2212"), kid(0, PRODUCT)), SUM];
    case "pow": return [math("msup", kid(0, FUNCTION), kid(1, 0)), POWER];
    case "pow2": return [math("msup", kid(0, FUNCTION), math("mn", "2")), POWER];
    case "pow3": return [math("msup", kid(0, FUNCTION), math("mn", "3")), POWER];
    case "sqrt": return [math("msqrt", kid(0, 0)), FUNCTION];
    case "cbrt": return [math("mroot", kid(0, 0), math("mn", "3")), FUNCTION];
    case "exp": return [math("msup", math("mi", "e"), kid(0, 0)), POWER];
    case "abs": return [math("mrow", math("mo", "|"), kid(0, 0), math("mo", "|")), FUNCTION];
  }
  if (t.kids.length) {
    const args = [];
    t.kids.forEach((_, k) => args.push(...(k ? [math("mo", ",")] : []), kid(k, 0)));
    return [math("mrow", math("mi", t.word), math("mo", "\u2061"), fenced(math("mrow", ...args), true)), FUNCTION];
  }
  const variable = /^x_(\d+)$/.exec(t.word);
  if (variable) return [math("mi", inputs[+variable[1]] || t.word.replace("_", "")), FUNCTION];
  if (names[t.word]) return [math("mi", names[t.word]), FUNCTION];
  return typesetNumber(t.word);
}

function showFormula(where, notations) {
  const m = math("math");
  m.setAttribute("display", "block");
  m.setAttribute("aria-label", notations.text);
  m.append(typeset(parsePrefix(notations.prefix), inputNames())[0]);
  where.replaceChildren(m);
}

function inputNames() {
  return table ? table.columns.filter((c) => c.role === "input").map((c) => c.name) : [];
}

/* ---- pictures ---- */

function ticks(low, high, n, least) {
  const step0 = Math.max((high - low) / n, least || 0), power = 10 ** Math.floor(Math.log10(step0));
  const step = [1, 2, 5, 10].map((k) => k * power).find((s) => s >= step0) || step0;
  const out = [];
  for (let v = Math.ceil(low / step) * step; v <= high + step * 1e-9; v += step) out.push(Math.abs(v) < step * 1e-9 ? 0 : v);
  return out;
}

const wide = () => matchMedia("(min-width: 46rem)").matches;

/* Axes, and the functions that map values to places. */
function plot(label, xs, ys, nameX, nameY, more) {
  const W = more && more.width || 330, H = W * .62, L = 58, R = 12, T = 10, B = 40;
  const range = (v) => {
    const f = v.filter((a) => a !== null && isFinite(a));
    let low = Math.min(...f), high = Math.max(...f);
    if (!f.length) [low, high] = [0, 1];
    if (low === high) [low, high] = [low - (Math.abs(low) || 1) * .1, high + (Math.abs(high) || 1) * .1];
    return [low - (high - low) * .04, high + (high - low) * .04];
  };
  const [x0, x1] = range(xs), [y0, y1] = range(ys);
  const X = (v) => L + (v - x0) / (x1 - x0) * (W - L - R), Y = (v) => H - B - (v - y0) / (y1 - y0) * (H - B - T);
  const svg = shape("svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": label });
  for (const v of ticks(x0, x1, W / 90)) svg.append(shape("line", { x1: X(v), x2: X(v), y1: T, y2: H - B, class: "grid" }), shape("text", { x: X(v), y: H - B + 15, "text-anchor": "middle" }, short(v)));
  for (const v of ticks(y0, y1, W / 90, more && more.log ? 1 : 0)) svg.append(shape("line", { x1: L, x2: W - R, y1: Y(v), y2: Y(v), class: "grid" }), shape("text", { x: L - 5, y: Y(v) + 4, "text-anchor": "end" }, more && more.log ? "1e" + Math.round(v) : short(v)));
  svg.append(shape("line", { x1: L, x2: W - R, y1: H - B, y2: H - B, class: "axis" }), shape("line", { x1: L, x2: L, y1: T, y2: H - B, class: "axis" }));
  svg.append(shape("text", { x: (L + W - R) / 2, y: H - 8, "text-anchor": "middle" }, nameX), shape("text", { x: 14, y: (H - B) / 2, transform: `rotate(-90 14 ${(H - B) / 2})`, "text-anchor": "middle" }, nameY));
  return { svg, X, Y, y0, y1, x0, x1 };
}

/* A picture with its numbers in reach: a table that is made when it is asked for. */
function withNumbers(picture, head, body) {
  const where = element("table", { class: "numbers" });
  const details = element("details", { ontoggle: () => {
    if (details.open && !where.firstChild) rows(where, head.map((name) => ({ name, text: name === "formula" })), body().map((r) => element("tr", {}, ...r.map((v) => element("td", { class: typeof v === "string" ? "text" : null }, typeof v === "string" ? v : short(v))))));
  } }, element("summary", {}, "Numbers"), element("div", { class: "scroll" }, where));
  return element("div", {}, picture, details);
}

function scatter(label, xs, ys, nameX, nameY, line) {
  const p = plot(label, xs, ys, nameX, nameY);
  if (line) {
    const low = Math.max(p.x0, p.y0), high = Math.min(p.x1, p.y1);
    if (high > low) p.svg.append(shape("line", { x1: p.X(low), y1: p.Y(low), x2: p.X(high), y2: p.Y(high), class: "axis" }));
  }
  xs.forEach((x, i) => {
    if (x !== null && ys[i] !== null && isFinite(x) && isFinite(ys[i])) p.svg.append(shape("circle", { cx: p.X(x), cy: p.Y(ys[i]), r: 2.5, class: "mark" }));
  });
  return withNumbers(p.svg, [nameX, nameY], () => xs.map((x, i) => [x, ys[i]]));
}

function histogram(c) {
  const most = Math.max(...c.histogram, 1), w = 240 / c.histogram.length;
  const svg = shape("svg", { viewBox: "0 0 240 60", role: "img", "aria-label": `histogram of ${c.name}` });
  const edge = (k) => c.min + (c.max - c.min) * k / c.histogram.length;
  c.histogram.forEach((n, k) => svg.append(shape("rect", { x: k * w + .5, width: w - 1, y: 60 - n / most * 58, height: n / most * 58, class: "bar" })));
  return withNumbers(svg, ["from", "to", "rows"], () => c.histogram.map((n, k) => [edge(k), edge(k + 1), n]));
}

/* ---- table ---- */

function showTable(answer) {
  table = answer;
  state.table = answer.table;
  $("table-view").hidden = false;
  $("where").textContent = answer.name;
  $("table-name").textContent = answer.name;
  $("table-facts").textContent = answer.error ? "" : `${answer.rows} rows, ${answer.columns.length} columns`;
  $("table-notes").replaceChildren(...answer.notes.map((n) => element("li", {}, n)));
  complain(answer.error ? { error: answer.error } : null);
  const target = answer.columns.find((c) => c.role === "target");
  $("target").replaceChildren(...answer.columns.map((c) => element("option", { value: c.name, selected: target ? c === target : c === answer.columns.at(-1) }, c.name)));
  $("inputs").replaceChildren(...answer.columns.map((c) => element("label", {}, element("input", { type: "checkbox", value: c.name, checked: answer.error ? c !== answer.columns.at(-1) : c.role === "input" }), " ", c.name)));
  rows($("preview"), answer.columns.map((c) => ({ name: c.name })), answer.preview.map((r) => element("tr", {}, ...r.map((v) => element("td", {}, short(v))))));
  $("columns").replaceChildren(...answer.columns.filter((c) => c.histogram).map((c) => {
    const card = element("div", { class: "card" }, element("strong", {}, c.name), element("p", {}, `${c.role}, ${short(c.min)} to ${short(c.max)}, mean ${short(c.mean)}`), histogram(c));
    if (c === target) card.append(scatter(`${c.name} by row`, c.points.map((_, i) => 1 + i * Math.ceil(answer.rows / c.points.length)), c.points, "row", c.name));
    else if (target) card.append(scatter(`${target.name} against ${c.name}`, c.points, target.points, c.name, target.name));
    return card;
  }));
  const usable = !answer.error;
  $("go-fit").disabled = $("start").disabled = $("draw-map").disabled = !usable;
  for (const id of ["fit-none", "explain-none"]) $(id).hidden = usable;
  save();
}

async function send(promise) {
  complain(null);
  try {
    const answer = await promise;
    if (!$("stop").disabled) ask(`/api/fit/${state.fit}/stop`, {}).catch(() => {}); /* of the table before */
    showTable(answer);
    state.formula = "";
    state.history = [];
    explaining++; /* what is under way is of no interest any more */
    $("explain-state").textContent = "";
    $("back").disabled = true;
    $("formula").value = "";
    $("formula-view").replaceChildren();
    $("formula-facts").textContent = "";
    markError("", null);
    $("explain-view").hidden = true;
    $("map").replaceChildren();
    $("map-formula").textContent = "";
    $("nearest").replaceChildren();
    $("map-state").textContent = "";
    forgetFit();
  } catch (e) {
    complain(e);
  }
}

async function sendFile(file) {
  if (!file) return;
  if (file.size > info.max_upload) {
    complain({ error: `${file.name} is larger than ${Math.round(info.max_upload / 2 ** 20)} MB; snip serve --max-upload takes more` });
    return;
  }
  await send(ask("/api/table?name=" + encodeURIComponent(file.name), await file.arrayBuffer(), "text/csv"));
}

/* ---- fit ---- */

function frontPlot() {
  const xs = front.front.map((f) => f.size), error = (f) => Math.log10(Math.max(1 - f.r2_val, 1e-18));
  const ys = front.front.map(error);
  const p = plot("unexplained share of the variance against size", xs, ys, "nodes", "1 \u2212 R\u00b2", { log: true, width: wide() ? Math.min(innerWidth, 1152) / 2 - 30 : innerWidth - 32 });
  p.svg.append(shape("polyline", { class: "line", points: xs.map((x, i) => `${p.X(x)},${p.Y(ys[i])}`).join(" ") }));
  front.front.forEach((f, k) => {
    const mark = shape("circle", { cx: p.X(xs[k]), cy: p.Y(ys[k]), r: k === front.selected ? 7 : 5, class: f.equation === chosen ? "chosen" : "mark", tabindex: 0, role: "button", "aria-label": `${f.size} nodes, R\u00b2 ${short(f.r2_val)}: ${f.equation}` }, shape("title", {}, f.equation));
    mark.addEventListener("click", () => choose(k));
    mark.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); choose(k); } });
    p.svg.append(mark);
  });
  $("front-plot").replaceChildren(p.svg); /* its numbers are the table beside it */
}

/* Draws the front when it is another one than is seen: what is redrawn in the middle of a click would
 * lose it. The focus stays at its place. */
function showFront() {
  if (!front || !front.front.length) return;
  $("fit-view").hidden = false;
  const seen = JSON.stringify([front.selected, chosen, front.front.map((f) => [f.equation, f.r2_val])]);
  if (seen === showFront.last) return;
  showFront.last = seen;
  const places = () => [...$("front-plot").querySelectorAll("[role=button]"), ...$("front").querySelectorAll("button")];
  const before = places(), focus = before.indexOf(document.activeElement), n = before.length / 2;
  rows($("front"), [{ name: "nodes" }, { name: "1 \u2212 R²" }, { name: "formula", text: true }],
    front.front.map((f, k) => element("tr", { class: k === front.selected ? "selected" : null },
      element("td", {}, String(f.size)), element("td", {}, unexplained(f)),
      element("td", { class: "text" }, element("button", { type: "button", onclick: () => choose(k) }, f.equation)))));
  frontPlot();
  if (focus >= 0) {
    const after = places(), at = Math.min(focus % n, after.length / 2 - 1);
    after[focus < n ? at : after.length / 2 + at].focus({ preventScroll: true });
  }
}

async function showBest() {
  const best = front.front[front.selected];
  if (!best || showBest.last === best.equation) return;
  showBest.last = best.equation;
  try {
    showFormula($("fit-best"), await ask("/api/formula", { table: state.table, formula: best.equation }));
  } catch (e) {
    $("fit-best").textContent = best.equation;
  }
}

function onEvent(answer) {
  if (answer.error) {
    complain(answer);
  } else if (answer.front) {
    front = answer;
    showFront();
    showBest();
  }
  const running = !answer.done;
  $("stop").disabled = !running;
  $("start").disabled = running;
  $("fit-progress").hidden = !running;
  $("fit-progress").value = answer.spent || 0;
  if (running) {
    const left = answer.spent > 0 ? answer.seconds / answer.spent - answer.seconds : 0;
    $("fit-state").textContent = `${answer.stage}, ${Math.max(0, left).toFixed(0)} s left`;
  } else if (!answer.error) {
    $("fit-state").textContent = `${answer.note ? answer.note + "; " : ""}done in ${answer.seconds.toFixed(1)} s, ${answer.evaluations.toLocaleString("en")} evaluations`;
    if (chosen === null) choose(front.selected);
  }
}

function listen() {
  if (events) events.close();
  events = new EventSource(address(`/api/fit/${state.fit}/events`));
  events.onmessage = (e) => {
    const answer = JSON.parse(e.data);
    onEvent(answer);
    if (answer.done) events.close();
  };
  events.onerror = () => { /* the connection broke: ask again while the search goes on */
    events.close();
    const fit = state.fit;
    setTimeout(async () => {
      if (fit !== state.fit) return;
      try {
        onEvent(await ask("/api/fit/" + fit));
        if (!$("stop").disabled) listen();
      } catch (e) {
        forgetFit();
        complain(e);
      }
    }, 1000);
  };
}

/* The page without a search, as before the first one. */
function forgetFit() {
  if (events) events.close();
  events = front = chosen = state.fit = showFront.last = showBest.last = null;
  $("fit-view").hidden = $("chosen").hidden = $("fit-progress").hidden = $("stop").disabled = true;
  $("start").disabled = !table || Boolean(table.error);
  $("fit-state").textContent = "";
  save();
}

async function startFit() {
  complain(null);
  forgetFit();
  try {
    const answer = await ask("/api/fit", { table: state.table, seconds: Number($("seconds").value) || 30 });
    state.fit = answer.fit;
    save();
    $("start").disabled = true;
    $("stop").disabled = false;
    $("fit-state").textContent = "starting";
    listen();
  } catch (e) {
    complain(e);
  }
}

async function choose(k) {
  const f = front.front[k];
  chosen = f.equation;
  showFront();
  try {
    const n = await ask("/api/formula", { table: state.table, formula: f.equation });
    if (chosen !== f.equation) return;
    $("chosen").hidden = false;
    showFormula($("chosen-formula"), n);
    $("copy").replaceChildren("Copy as ", ...Object.entries({ text: "text", latex: "LaTeX", sympy: "SymPy", c: "C" }).map(([kind, name]) => element("button", {
      type: "button",
      onclick: async (e) => {
        try {
          await navigator.clipboard.writeText(n[kind]);
          e.target.textContent = name + " \u2713";
        } catch {
          prompt("Copy:", n[kind]);
        }
      } }, name)));
    $("chosen-constants").textContent = f.constants && f.constants.length ? "Constants: " + f.constants.map((c) => `${short(c.value)}${c.error === null ? "" : " \u00b1 " + short(c.error)}`).join(", ") : "";
    const residual = n.measured.map((v, i) => n.predicted[i] === null ? null : v - n.predicted[i]);
    const targetName = table.columns.find((c) => c.role === "target").name;
    $("chosen-plots").replaceChildren(
      element("div", { class: "card" }, element("strong", {}, "Measured against predicted"), scatter("measured against predicted", n.predicted, n.measured, "predicted", targetName, true)),
      ...table.columns.filter((c) => c.role === "input").map((c) => element("div", { class: "card" }, element("strong", {}, "Residual against " + c.name), scatter("residual against " + c.name, c.points, residual, c.name, "residual"))));
  } catch (e) {
    complain(e);
  }
}

function download() {
  const quote = (s) => '"' + s.replaceAll('"', '""') + '"';
  const text = ["Complexity,Loss,Equation,Selected,r2_train,r2_val,loss_val", ...front.front.map((f, k) => [f.size, f.loss_train, quote(f.equation), k === front.selected ? 1 : 0, f.r2_train, f.r2_val, f.loss_val].join(","))].join("\n") + "\n";
  const link = element("a", { href: URL.createObjectURL(new Blob([text], { type: "text/csv" })), download: "front.csv" });
  link.click();
  URL.revokeObjectURL(link.href);
}

/* ---- explain ---- */

let judging = 0, judgeTimer = 0, explaining = 0, explained = "";

/* The error at its byte: the text up to it, then what follows. */
function markError(text, e) {
  $("formula").classList.toggle("wrong", Boolean(e));
  if (!e) {
    $("formula-error").replaceChildren();
    return;
  }
  const bytes = new TextEncoder().encode(text), decode = (b) => new TextDecoder().decode(b);
  $("formula-error").replaceChildren(e.error || "", " ", element("code", {}, decode(bytes.slice(Math.max(0, (e.pos || 0) - 24), e.pos || 0)) + " \u2192 " + decode(bytes.slice(e.pos || 0, (e.pos || 0) + 24))));
}

/* Error, R² and similarity follow as one types; only the newest answer counts. */
async function judge() {
  const text = $("formula").value.trim(), turn = ++judging;
  state.formula = text;
  save();
  $("explain-view").classList.toggle("stale", text !== explained);
  if (text !== explained && $("explain-state").textContent.includes("edits")) { /* of a formula that is gone */
    explaining++;
    $("explain-state").textContent = "";
  }
  if (!text) {
    $("formula-view").replaceChildren();
    $("formula-facts").textContent = "";
    markError(text, null);
  }
  if (!text || !table || table.error) return;
  try {
    const [n, r] = await Promise.all([ask("/api/formula", { table: state.table, formula: text }), ask("/api/rank", { table: state.table, formulas: [text] })]);
    if (turn !== judging) return;
    markError(text, null);
    showFormula($("formula-view"), n);
    const c = r.candidates[0];
    $("formula-facts").textContent = `After a refit: 1 \u2212 R\u00b2 ${unexplained(c)}, squared error ${short(c.loss_val ?? c.loss_train)} ${c.loss_val === null ? "(all rows)" : "(held-out rows)"}; similarity ${short(c.similarity)}; ${n.nodes} nodes`;
  } catch (e) {
    if (turn === judging) markError(text, e);
  }
}

function setFormula(text, remember) {
  if (remember && state.formula && state.formula !== text) state.history.push(state.formula);
  $("back").disabled = !state.history.length;
  $("formula").value = text;
  judge();
}

function colour(share) {
  return `color-mix(in srgb, var(--warm) ${Math.round(share * 85)}%, var(--ground))`;
}

/* The tree by places: leaves side by side, parents above their children. */
function drawTree(tree, onNode) {
  const depth = [], place = [], open = [];
  let leaf = 0, deepest = 0;
  const kids = tree.map(() => []);
  tree.forEach((n, i) => {
    depth[i] = open.length;
    deepest = Math.max(deepest, depth[i]);
    if (open.length) kids[open.at(-1).i].push(i);
    if (n.arity) {
      open.push({ i, left: n.arity });
    } else {
      place[i] = leaf++;
      while (open.length && --open.at(-1).left === 0) open.pop();
    }
  });
  for (let i = tree.length; i-- > 0;) if (kids[i].length) place[i] = kids[i].reduce((s, k) => s + place[k], 0) / kids[i].length;
  const W = Math.max(leaf * 70, 140), H = (deepest + 1) * 64 + 10;
  const svg = shape("svg", { viewBox: `0 0 ${W} ${H}`, role: "group", "aria-label": "tree of the formula" });
  const X = (i) => place[i] * 70 + 35, Y = (i) => depth[i] * 64 + 32;
  tree.forEach((_, i) => kids[i].forEach((k) => svg.append(shape("line", { x1: X(i), y1: Y(i), x2: X(k), y2: Y(k), class: "edge" }))));
  tree.forEach((n, i) => {
    const circle = shape("circle", { cx: X(i), cy: Y(i), r: 24 });
    circle.style.fill = colour(n.share);
    const g = shape("g", { class: "node", tabindex: 0, role: "button", "aria-label": `part ${n.label}, ${Math.round(n.share * 100)} % of the largest gain` }, circle, shape("text", { x: X(i), y: Y(i), class: n.share > .35 ? "on-warm" : "" }, n.label.length > 6 ? n.label.slice(0, 5) + "\u2026" : n.label), shape("title", {}, n.label));
    g.addEventListener("click", () => onNode(i));
    g.addEventListener("keydown", (e) => { if (e.key === "Enter" || e.key === " ") { e.preventDefault(); onNode(i); } });
    svg.append(g);
  });
  svg.style.width = Math.min(W, 900) + "px";
  $("tree").replaceChildren(svg);
}

let explanation = null; /* { x: what is known, edits: by their key, node: of which they are shown, rows, held } */

const errorOf = (e) => e.refitted_errors.loss_cross ?? e.refitted_errors.loss_val ?? e.refitted_errors.loss_train ?? Infinity;

function apply(formula) {
  setFormula(formula, true);
  explain();
}

function editRow(e) {
  return element("tr", {},
    element("td", { class: "text" }, element("button", { type: "button", "aria-label": "apply: " + e.edit, onclick: () => apply(e.refitted_equation) }, "Apply")),
    element("td", { class: "text wrap" }, e.edit),
    element("td", {}, unexplained(e.refitted_errors)), element("td", {}, short(e.refitted_errors.loss_val ?? e.refitted_errors.loss_train)), element("td", {}, short(e.gain)));
}

/* The edits known so far, least error first. Rows stay what they are and only move, and not under a
 * finger: what is replaced in the middle of a click would lose it. */
function showEdits() {
  const { edits, node, rows: kept, held } = explanation;
  if (held) return;
  const list = [...edits.values()].filter((e) => node === null || e.node === node).sort((a, b) => errorOf(a) - errorOf(b)).slice(0, 60);
  $("edits-title").textContent = node === null ? "Edits, least error first" : `Edits of ${shortened(explanation.x.nodes[node].part)}`;
  const wanted = list.map((e) => {
    const key = editKey(e);
    if (!kept.has(key)) kept.set(key, editRow(e));
    return kept.get(key);
  });
  const body = $("edits").tBodies[0], focus = document.activeElement;
  if (wanted.length !== body.rows.length || wanted.some((r, k) => r !== body.rows[k])) {
    body.replaceChildren(...wanted);
    if (wanted.some((r) => r.contains(focus))) focus.focus({ preventScroll: true });
  }
  $("edits").caption?.remove();
  if (!list.length) $("edits").prepend(element("caption", {}, explanation.x.done ? "There is no edit of this part to try." : "Refitting\u2026"));
}

const editKey = (e) => [e.node, e.second_node, e.edit].join("|");

function learn(x) {
  explanation.x = x;
  for (const e of [...x.edits, ...x.pairs]) explanation.edits.set(editKey(e), e);
  showEdits();
}

/* The edits of one part. Those under way come first; of a long formula, some were not to be tried. */
async function showPart(node) {
  const mine = explanation;
  mine.node = node;
  for (const [i, g] of [...$("tree").querySelectorAll(".node")].entries()) g.setAttribute("aria-pressed", String(i === node));
  showEdits();
  const turn = explaining;
  for (let before = -1; mine.x.done && mine === explanation && mine.node === node && before !== mine.edits.size;) {
    before = mine.edits.size;
    try {
      const x = await ask("/api/explain", { table: state.table, formula: explained, seconds: .15, node });
      if (turn === explaining && mine === explanation) learn(x);
    } catch (e) {
      complain(e);
      return;
    }
  }
}

function showVerdict(v) {
  $("verdict").replaceChildren();
  if (!v) return;
  const less = 100 * (1 - v.edited_cross_loss / v.cross_loss), luck = `p ${v.p < 1e-6 ? "< 1e-6" : "= " + v.p.toPrecision(1)} for the best of ${v.tried}`;
  if (v.supported) $("verdict").append(`The data support an edit: ${v.edit.edit}. It lowers the cross-validated error by ${less > 99.99 ? "more than 99.99" : less.toPrecision(3)} % (${luck}) and gives ${shortened(v.equation)} `, element("button", { type: "button", onclick: () => apply(v.equation) }, "Apply"));
  else $("verdict").append("No edit is supported by the data" + (less > 0 ? `: the best lowers the cross-validated error by ${less.toPrecision(2)} % (${luck}).` : "."));
}

/* First the tree, then the edits as they are refitted, then the verdict. A step is short, so that
 * the part which is asked for comes next. */
async function explain() {
  const text = $("formula").value.trim();
  if (!text || !table || table.error) return;
  const turn = ++explaining, step = (seconds, node) => ask("/api/explain", { table: state.table, formula: text, seconds, node });
  complain(null);
  $("explain-state").textContent = "working";
  try {
    let x = await step(0);
    if (turn !== explaining) return; /* a newer one was asked for */
    const focused = $("edits").contains(document.activeElement) || $("verdict").contains(document.activeElement) || document.activeElement === document.body;
    explained = text;
    explanation = { edits: new Map(), rows: new Map(), node: null, held: false };
    rows($("edits"), [{ name: "", text: true }, { name: "edit, then refit", text: true }, { name: "1 \u2212 R²" }, { name: "squared error" }, { name: "gain" }], []);
    $("explain-view").hidden = false;
    $("explain-view").classList.remove("stale");
    showVerdict(x.evidence);
    drawTree(x.tree, showPart);
    learn(x);
    if (focused) $("back").focus({ preventScroll: true }); /* the button that was pressed is gone */
    markError(text, null);
    while (!x.done) {
      $("explain-state").textContent = x.tried < x.wanted ? `refitting edits: ${x.tried} of ${x.wanted}` : "weighing the best edits";
      x = await step(.15, explanation.node ?? undefined);
      if (turn !== explaining) return;
      learn(x);
    }
    showVerdict(x.evidence);
  } catch (e) {
    if (turn !== explaining) return;
    if (e.pos !== undefined) markError(text, e);
    else complain(e);
  }
  $("explain-state").textContent = "";
}

/* ---- map ---- */

/* A formula of the map as a candidate: a law's x0, x1, ... become the table's inputs, and its
 * constants are fitted. */
async function take(formula, isLaw) {
  complain(null);
  try {
    const text = isLaw ? (await ask("/api/take", { table: state.table, formula })).equation : formula;
    show("explain");
    apply(text);
  } catch (e) {
    complain(e);
  }
}

/* Points as one stop of the keyboard: the arrow keys go from one to the next in their direction. */
function walkable(svg, points, p) {
  const ring = shape("circle", { r: 8, class: "ring", visibility: "hidden" });
  svg.append(ring);
  let at = points.length - 1; /* the table */
  const go = (k) => {
    at = k;
    ring.setAttribute("cx", p.X(points[at].x));
    ring.setAttribute("cy", p.Y(points[at].y));
    ring.setAttribute("visibility", "visible");
    $("map-formula").textContent = points[at].kind === "table" ? "your table" : points[at].formula;
  };
  const toward = ([dx, dy]) => {
    const x = p.X(points[at].x), y = p.Y(points[at].y);
    let best = at, least = Infinity;
    points.forEach((a, k) => {
      const u = (p.X(a.x) - x) * dx + (p.Y(a.y) - y) * dy, v = (p.X(a.x) - x) * dy - (p.Y(a.y) - y) * dx;
      if (u > .5 && u + 2 * Math.abs(v) < least) [best, least] = [k, u + 2 * Math.abs(v)];
    });
    go(best);
  };
  svg.addEventListener("keydown", (e) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[e.key];
    if (way) toward(way);
    else if ((e.key === "Enter" || e.key === " ") && points[at].kind !== "table") take(points[at].formula, points[at].kind !== "mark");
    else return;
    e.preventDefault();
  });
  svg.addEventListener("focus", () => go(at));
  svg.addEventListener("blur", () => ring.setAttribute("visibility", "hidden"));
}

async function drawMap() {
  complain(null);
  $("map-state").textContent = "making the map (a few seconds the first time)";
  try {
    const candidates = [...new Set([...(front && front.front ? front.front.map((f) => f.equation) : []), ...(state.formula ? [state.formula] : [])])].slice(0, 30);
    const m = await ask("/api/map", { table: state.table, formulas: candidates });
    const all = [...m.points.map((a) => ({ ...a, kind: "law" })), ...m.nearest.map((a) => ({ ...a, kind: "near" })), ...m.candidates.map((a) => ({ ...a, kind: "mark" })), { ...m.table, kind: "table" }];
    const p = plot("map of the space; arrow keys go from formula to formula, Enter takes one", all.map((a) => a.x), all.map((a) => a.y), "first direction", "second direction", { width: Math.min(innerWidth - 32, 736) });
    p.svg.setAttribute("role", "application");
    p.svg.setAttribute("tabindex", 0);
    for (const a of all) {
      const x = p.X(a.x), y = p.Y(a.y), r = { law: 2.2, near: 4, mark: 5, table: 6 }[a.kind];
      const mark = a.kind === "table" ? shape("rect", { x: x - r, y: y - r, width: 2 * r, height: 2 * r, transform: `rotate(45 ${x} ${y})`, class: "chosen" }) : shape("circle", { cx: x, cy: y, r, class: a.kind });
      const text = a.kind === "table" ? "your table" : a.formula;
      mark.append(shape("title", {}, text));
      mark.addEventListener("pointerenter", () => { $("map-formula").textContent = text; });
      if (a.kind !== "table") mark.addEventListener("click", () => take(a.formula, a.kind !== "mark"));
      p.svg.append(mark);
    }
    walkable(p.svg, all, p);
    $("map").replaceChildren(withNumbers(p.svg, ["first direction", "second direction", "formula"], () => all.map((a) => [a.x, a.y, a.formula ?? "your table"])));
    rows($("nearest"), [{ name: "similarity" }, { name: "formula", text: true }], m.nearest.map((n) => element("tr", {}, element("td", {}, short(n.similarity)), element("td", { class: "text" }, element("button", { type: "button", onclick: () => take(n.formula, true) }, n.formula)))));
    $("map-state").textContent = `${m.points.length} formulas`;
  } catch (e) {
    complain(e);
    $("map-state").textContent = "";
  }
}

/* ---- tabs ---- */

const tabs = ["table", "fit", "explain", "map"];

function show(name) {
  state.tab = name;
  for (const t of tabs) {
    const on = t === name;
    $("panel-" + t).hidden = !on;
    $("tab-" + t).setAttribute("aria-selected", String(on));
    $("tab-" + t).tabIndex = on ? 0 : -1;
  }
  save();
}

function wire() {
  for (const t of tabs) $("tab-" + t).addEventListener("click", () => show(t));
  $("tabs").addEventListener("keydown", (e) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(state.tab) + step + tabs.length) % tabs.length];
    show(next);
    $("tab-" + next).focus();
  });
  $("file").addEventListener("change", (e) => sendFile(e.target.files[0]));
  for (const kind of ["dragover", "dragenter"]) $("drop").addEventListener(kind, (e) => { e.preventDefault(); $("drop").classList.add("over"); });
  $("drop").addEventListener("dragleave", () => $("drop").classList.remove("over"));
  $("drop").addEventListener("drop", (e) => { e.preventDefault(); $("drop").classList.remove("over"); sendFile(e.dataTransfer.files[0]); });
  $("choice").addEventListener("submit", (e) => {
    e.preventDefault();
    const target = $("target").value;
    const columns = [...$("inputs").querySelectorAll("input:checked")].map((c) => c.value).filter((c) => c !== target);
    send(ask("/api/table", { table: state.table, target, columns }));
  });
  $("go-fit").addEventListener("click", () => { show("fit"); startFit(); });
  $("fit-form").addEventListener("submit", (e) => { e.preventDefault(); startFit(); });
  $("stop").addEventListener("click", () => ask(`/api/fit/${state.fit}/stop`, {}).catch(complain));
  $("front-csv").addEventListener("click", download);
  $("chosen-explain").addEventListener("click", () => { show("explain"); apply(chosen); });
  $("formula").addEventListener("input", () => { clearTimeout(judgeTimer); judgeTimer = setTimeout(judge, 60); });
  $("edits").addEventListener("pointerdown", () => { explanation.held = true; });
  for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, () => setTimeout(() => { if (explanation && explanation.held) { explanation.held = false; showEdits(); } }));
  $("explain").addEventListener("click", explain);
  $("back").addEventListener("click", () => { if (state.history.length) { const last = state.history.pop(); setFormula(last, false); explain(); } });
  $("draw-map").addEventListener("click", drawMap);
}

async function begin() {
  wire();
  try {
    info = await ask("/api/info");
    $("examples").replaceChildren(...info.examples.map((x) => element("button", { type: "button", title: x.about, onclick: () => send(ask("/api/table", { example: x.name })) }, x.name.replace(".csv", ""))));
    if (!info.map) $("tab-map").hidden = true;
    $("map-about").textContent = info.library === null ? "Two thousand generated laws" : info.library > 3000 ? `Three thousand of the library's ${info.library.toLocaleString("en")} formulas` : "The library's formulas";
    let kept = null;
    try {
      kept = JSON.parse(sessionStorage.getItem("snip"));
    } catch { /* nothing is kept */ }
    if (kept && kept.table) Object.assign(state, kept);
    else state.table = info.table;
    $("start").disabled = $("go-fit").disabled = $("draw-map").disabled = true;
    if (state.table) {
      const fit = state.fit;
      showTable(await ask("/api/table/" + state.table));
      $("formula").value = state.formula;
      $("back").disabled = !state.history.length;
      if (state.formula) judge();
      show(state.tab);
      if (state.formula && state.tab === "explain") explain();
      if (fit) {
        try {
          onEvent(await ask("/api/fit/" + fit));
          if (!$("stop").disabled) listen();
        } catch { /* pushed out by newer ones: the table is still here */
          forgetFit();
        }
      }
    }
  } catch (e) {
    if (state.table) {
      state.table = state.fit = null;
      save();
    }
    complain(e);
  }
}

begin();
