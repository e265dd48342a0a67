// The page: draws what is chosen, and listens to the pointer and the keys.
import { defaultAxes } from "./axes.js";
import { planRows } from "./charts.js";
import { describe, ownersOfBlock } from "./describe.js";
import { allFrames } from "./film.js";
import { processorName } from "./machine.js";
import { escaped } from "./svg.js";
import { elementAt } from "./tensors.js";
import { bytesText, withCommas } from "./text.js";
import { captionOf, MOST_PLAN_ROWS, stateOf, svgFile, VIEWS } from "./views.js";

const STEP_MS = 1100;
const MOVE_MS = 650;
const MOST_PACKETS = 400;
const LEAST_WIDTH = 380;
const MOST_WIDTH = 1500;

const byId = (id) => document.getElementById(id);
const data = JSON.parse(byId("data").textContent);
const frames = allFrames(data);
const planLength = planRows(data).length;
const style = byId("drawing").textContent;

const chosen = { view: "film", frame: 0, processor: null, tensor: null, axes: null, fixed: [] };
let playing = null;

// ---- the address: #view=film&step=3&processor=1&play=1 ----

function readAddress() {
  const words = new URLSearchParams(location.hash.slice(1));
  if (VIEWS[words.get("view")]) chosen.view = words.get("view");
  if (words.has("step")) chosen.frame = stateOf(data, { step: Number(words.get("step")) }).current;
  if (words.has("processor")) chosen.processor = Number(words.get("processor"));
  return words.get("play") === "1";
}

// ---- drawing ----

function state() {
  const made = stateOf(data, { ...chosen, axes: undefined });
  const axes = chosen.axes?.[made.statement] ?? defaultAxes(data, made.statement);
  return { ...made, axes, fixed: chosen.fixed[made.statement] ?? [] };
}

function draw() {
  const now = state();
  const room = Math.min(MOST_WIDTH, Math.max(LEAST_WIDTH, byId("stage").clientWidth));
  const { content, width, height } = VIEWS[chosen.view](data, now, room);
  const picture = byId("picture");
  picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
  picture.setAttribute("width", width);
  picture.setAttribute("height", height);
  picture.setAttribute("aria-label", `${chosen.view}, ${captionOf(data, now).title}`);
  picture.innerHTML = content;
  byId("statement").textContent = data.statements[now.statement]?.text ?? "";
  byId("scrub").value = String(now.current);
  byId("scrub").setAttribute("aria-valuetext", captionOf(data, now).title);
  byId("where").textContent = captionOf(data, now).title;
  byId("rows").hidden = chosen.view !== "plan" || planLength <= MOST_PLAN_ROWS;
  for (const button of document.querySelectorAll("[data-view]")) {
    button.setAttribute("aria-pressed", String(button.dataset.view === chosen.view));
  }
  // The pieces of the chosen processor.
  const own = `#picture .cell.p${chosen.processor}{stroke:var(--strong);stroke-width:2.5px}`;
  byId("chosen").textContent = chosen.processor === null || chosen.view !== "data" ? "" : own;
  byId("processor").value = chosen.processor === null ? "" : String(chosen.processor);
  document.body.dataset.step = byId("where").textContent;
}

// Lets a packet travel along each arrow.
function animateMessages() {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const lines = [...document.querySelectorAll("#picture .arrow path.line:not(.legend)")].slice(0, MOST_PACKETS);
  const packets = lines.map((line) => {
    const packet = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    packet.setAttribute("r", 4.5);
    packet.setAttribute("fill", line.getAttribute("stroke"));
    line.parentNode.append(packet);
    return { line, packet, length: line.getTotalLength() };
  });
  const start = performance.now();
  const tick = (now) => {
    const part = Math.min(1, (now - start) / MOVE_MS);
    for (const { line, packet, length } of packets) {
      const { x, y } = line.getPointAtLength(part * length);
      packet.setAttribute("cx", x);
      packet.setAttribute("cy", y);
    }
    if (part < 1) requestAnimationFrame(tick);
    else packets.forEach(({ packet }) => packet.remove());
  };
  requestAnimationFrame(tick);
}

// ---- steps ----

function goTo(frame) {
  const before = state().statement;
  chosen.frame = Math.max(0, Math.min(frames.length - 1, frame));
  draw();
  if (state().statement !== before) fillChoices();
  if (chosen.view === "film") animateMessages();
}

function play() {
  if (playing !== null) return pause();
  if (chosen.frame === frames.length - 1) goTo(0);
  byId("play").textContent = "❚❚ Pause";
  playing = setInterval(() => {
    if (chosen.frame >= frames.length - 1) return pause();
    goTo(chosen.frame + 1);
  }, STEP_MS);
}

function pause() {
  clearInterval(playing);
  playing = null;
  byId("play").textContent = "▶ Play";
}

// ---- what is shown ----

function choose(processor) {
  chosen.processor = chosen.processor === processor ? null : processor;
  draw();
}

function fillChoices() {
  const now = state();
  const statement = data.statements[now.statement];
  const levels = data.machines[statement?.machine ?? 0];
  const options = ['<option value="">all</option>'];
  for (let p = 0; p < data.processors; ++p) options.push(`<option value="${p}">${processorName(levels, p)}</option>`);
  byId("processor").innerHTML = options.join("");
  byId("tensor").innerHTML = ['<option value="">all</option>']
    .concat(data.tensors.map(({ name }, t) => `<option value="${t}">${escaped(name)}</option>`))
    .join("");
  byId("tensor").value = chosen.tensor === null ? "" : String(chosen.tensor);
  byId("axes").innerHTML = statement ? axisChoices(statement, now) : "";
}

function axisChoices(statement, now) {
  const options = (picked) =>
    statement.indices
      .map(({ name }, i) => `<option value="${i}"${i === picked ? " selected" : ""}>${escaped(name)}</option>`)
      .join("");
  const selects =
    statement.indices.length > 3
      ? now.axes.map((axis, d) => `<select data-axis="${d}" aria-label="axis ${d + 1}">${options(axis)}</select>`)
      : [];
  const sliders = statement.indices.map(({ name, extent }, i) => {
    if (now.axes.includes(i)) return "";
    const value = now.fixed[i] ?? -1;
    const text = value < 0 ? "all" : value;
    return (
      `<label>${escaped(name)} <input type="range" data-fix="${i}" min="-1" max="${extent - 1}" value="${value}">` +
      `<output>${text}</output></label>`
    );
  });
  return (selects.length > 0 ? "axes " : "") + selects.join("") + sliders.join("");
}

function onAxes(event) {
  const now = state();
  const { axis, fix } = event.target.dataset;
  if (axis !== undefined) {
    const axes = [...now.axes];
    const picked = Number(event.target.value);
    const twin = axes.indexOf(picked);
    if (twin >= 0) axes[twin] = axes[axis];
    axes[axis] = picked;
    chosen.axes = { ...chosen.axes, [now.statement]: axes };
    fillChoices();
  } else if (fix !== undefined) {
    const value = Number(event.target.value);
    const fixed = [...now.fixed];
    fixed[fix] = value < 0 ? null : value;
    chosen.fixed[now.statement] = fixed;
    event.target.nextElementSibling.textContent = value < 0 ? "all" : value;
  }
  draw();
}

function fillPage() {
  document.title = `${data.title} – DISTAL`;
  byId("title").textContent = data.title;
  byId("program").textContent = data.program;
  byId("scrub").max = String(Math.max(0, frames.length - 1));
  const skipped = data.statements.some((s) => s.every > 1);
  const every = Math.max(1, ...data.statements.map((s) => s.every));
  byId("note").textContent = skipped ? `One step of ${every} is drawn; totals count all steps.` : "";
  byId("rows").innerHTML = rowsTable();
  document.querySelector("[data-view=choice]").hidden = (data.choices ?? []).length === 0;
}

function rowsTable() {
  const head = ["step", "tensor", "at loop", "pattern", "messages", "bytes", "why"];
  const cells = (row) => [
    row.first === row.last ? row.first : `${row.first}–${row.last}`,
    escaped(row.tensor),
    escaped(row.at),
    row.pattern,
    withCommas(row.messages),
    bytesText(row.bytes),
    row.why,
  ];
  const lines = planRows(data)
    .slice(0, 2000)
    .map((row) => `<tr>${cells(row).map((c) => `<td>${c}</td>`).join("")}</tr>`);
  const titles = head.map((h) => `<th scope="col">${h}</th>`).join("");
  return `<thead><tr>${titles}</tr></thead><tbody>${lines.join("")}</tbody>`;
}

// ---- the pointer ----

const targetOf = (event) => event.target.closest?.("[data-p],[data-from],[data-owner],[data-pair],[data-choice]");

// The element of a tensor under the pointer, where the picture tells elements apart.
function pointedElement(event, target) {
  const panel = target.closest("[data-elements]");
  if (!panel || target.dataset.block === undefined) return undefined;
  const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(panel.getScreenCTM().inverse());
  return elementAt(data, Number(target.dataset.tensor), panel.dataset.elements, x, y);
}

const MOST_MARKED = 256; // processors

// The style that marks what belongs to the thing under the pointer: the pieces and the work of a processor, the
// processors of a piece, the arrow of a message.
function highlightOf({ p, from, to, tensor, owner, block }) {
  if (from !== undefined) return `.from${from}.to${to} .line{stroke-width:5px}`;
  const mark = "{stroke:var(--strong);stroke-width:3px}";
  if (p !== undefined) return `#picture .p${p}${mark}`;
  if (owner === undefined) return "";
  const owners = block === undefined ? [owner] : ownersOfBlock(data, Number(tensor), Number(block));
  return `${owners.slice(0, MOST_MARKED).map((o) => `#picture .node.p${o}`).join()}${mark}`;
}

function onHover(event) {
  const target = targetOf(event);
  const lines = target ? describe(data, state(), { ...target.dataset, element: pointedElement(event, target) }) : [];
  byId("tip").innerHTML = lines.map((line) => `<div>${escaped(line)}</div>`).join("");
  byId("tip").hidden = lines.length === 0;
  byId("tip").style.left = `${Math.min(event.clientX + 14, innerWidth - 340)}px`;
  byId("tip").style.top = `${event.clientY + 16}px`;
  byId("highlight").textContent = target ? highlightOf(target.dataset) : "";
}

function onClick(event) {
  const step = event.target.closest?.("[data-frame]");
  if (step) return goTo(Number(step.dataset.frame));
  const target = targetOf(event);
  const who = target?.dataset.p ?? target?.dataset.owner;
  if (who !== undefined) choose(Number(who));
}

// ---- the keys ----

function neighbour(by) {
  const last = data.processors - 1;
  const next = chosen.processor === null ? (by > 0 ? 0 : last) : chosen.processor + by;
  chosen.processor = next < 0 || next > last ? null : next;
  draw();
}

const KEYS = {
  ArrowRight: () => goTo(chosen.frame + 1),
  ArrowLeft: () => goTo(chosen.frame - 1),
  Home: () => goTo(0),
  End: () => goTo(frames.length - 1),
  " ": play,
  "[": () => neighbour(-1),
  "]": () => neighbour(1),
  Escape: () => choose(chosen.processor),
  1: () => show("film"),
  2: () => show("data"),
  3: () => show("plan"),
  4: () => show("memory"),
  5: () => (data.choices ?? []).length > 0 && show("choice"),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (["INPUT", "SELECT", "BUTTON"].includes(event.target.tagName) && event.key !== "Escape") return;
  const action = KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

function show(view) {
  chosen.view = view;
  draw();
}

function save() {
  const text = svgFile(data, state(), chosen.view, style);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  link.download = `${data.title.replace(/\.distal$/, "")}-${chosen.view}.svg`;
  link.click();
  URL.revokeObjectURL(link.href);
}

function start() {
  const plays = readAddress();
  fillPage();
  fillChoices();
  draw();
  for (const button of document.querySelectorAll("[data-view]")) {
    button.addEventListener("click", () => show(button.dataset.view));
  }
  byId("processor").addEventListener("change", (e) => {
    chosen.processor = e.target.value === "" ? null : Number(e.target.value);
    draw();
  });
  byId("tensor").addEventListener("change", (e) => {
    chosen.tensor = e.target.value === "" ? null : Number(e.target.value);
    draw();
  });
  byId("axes").addEventListener("input", onAxes);
  byId("scrub").addEventListener("input", (e) => goTo(Number(e.target.value)));
  byId("first").addEventListener("click", () => goTo(0));
  byId("back").addEventListener("click", () => goTo(chosen.frame - 1));
  byId("play").addEventListener("click", play);
  byId("next").addEventListener("click", () => goTo(chosen.frame + 1));
  byId("last").addEventListener("click", () => goTo(frames.length - 1));
  byId("save").addEventListener("click", save);
  byId("picture").addEventListener("mousemove", onHover);
  byId("picture").addEventListener("mouseleave", onHover);
  byId("picture").addEventListener("click", onClick);
  document.addEventListener("keydown", onKey);
  addEventListener("resize", draw);
  document.body.dataset.ready = "yes";
  if (plays) play();
}

start();
