// Colours. A processor's colour is its position on the machine: along one dimension from blue over green to yellow,
// along the next from dark to light, along a third from a pale to a strong red. The first two can be told apart with
// every kind of colour vision; labels and hovering tell the rest.
import { coordinatesOf, drawnLevels } from "./machine.js";

const LIGHT = [0.54, 0.88];
const YELLOW = [-0.115, 0.125];
const GREEN = 0.075; // in the middle between blue and yellow, which would be grey
const RED = [0, 0.15];

// OKLab to "#rrggbb", cut to what a screen can show.
export function hexOf(lightness, red, yellow) {
  const l = (lightness + 0.3963377774 * red + 0.2158037573 * yellow) ** 3;
  const m = (lightness - 0.1055613458 * red - 0.0638541728 * yellow) ** 3;
  const s = (lightness - 0.0894841775 * red - 1.291485548 * yellow) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const channel = (x) => {
    const c = Math.min(1, Math.max(0, x));
    const gamma = c <= 0.0031308 ? 12.92 * c : 1.055 * c ** (1 / 2.4) - 0.055;
    return Math.round(255 * gamma)
      .toString(16)
      .padStart(2, "0");
  };
  return `#${linear.map(channel).join("")}`;
}

const between = ([lo, hi], part) => lo + (hi - lo) * part;

// The colour at a place, given by parts from 0 to 1 along up to three dimensions.
function colourAt(parts) {
  if (parts.length === 0) return hexOf(0.76, 0, -0.06);
  const lightness = between(LIGHT, parts.length > 1 ? parts[1] : parts[0]);
  const red = (parts.length > 2 ? between(RED, parts[2]) : 0) - GREEN * Math.sin(Math.PI * parts[0]);
  return hexOf(lightness, red, between(YELLOW, parts[0]));
}

// The colour of a processor, or of several processors that own the same: the colour of the place in their middle.
export function colourOf(levels, processors) {
  const sums = [];
  for (const p of processors) {
    placeOf(levels, p).forEach(({ at, extent }, d) => {
      sums[d] = (sums[d] ?? 0) + (extent > 1 ? at / (extent - 1) : 0);
    });
  }
  const long = placeOf(levels, 0).map(({ extent }) => extent > 1);
  return colourAt(sums.map((sum) => sum / processors.length).filter((_, d) => long[d]));
}

// The place of a processor in a grid of three dimensions. The d-th dimensions of all levels count as one dimension, and
// so do dimensions whose numbers differ by three.
function placeOf(machine, processor) {
  const levels = drawnLevels(machine);
  const coordinates = coordinatesOf(levels, processor);
  const out = [];
  let c = 0;
  for (const level of levels) {
    level.forEach((extent, d) => {
      const { at, extent: before } = out[d % 3] ?? { at: 0, extent: 1 };
      out[d % 3] = { at: at * extent + coordinates[c++], extent: before * extent };
    });
  }
  return out;
}

// Black or white, whichever can be read on the colour.
export function inkOn(hex) {
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
  return 0.299 * r + 0.587 * g + 0.114 * b > 118 ? "#1a1a1a" : "#ffffff";
}

// Okabe and Ito's colours, which colour-blind people can tell apart.
const TENSORS = ["#d55e00", "#0072b2", "#009e73", "#cc79a7", "#b8860b", "#56b4e9"];
export const tensorColour = (tensor) => TENSORS[tensor % TENSORS.length];
