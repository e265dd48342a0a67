// Boxes seen from above, in parallel projection. The first axis goes down, the second to the lower right, the third to
// the lower left; so the planes of the first two read like a matrix.
import { polygon } from "./svg.js";

const COS = Math.cos(Math.PI / 6);
const SIN = 0.5;
const EDGE = 1e-9; // points this near to an edge count as inside

// A point [down, right, left] on the page.
export const onPage = ([a, b, c]) => [(b - c) * COS, a + (b + c) * SIN];

// The corners of the rectangle at `origin` with two sides along axes `u` and `v`.
export function facet(origin, u, lengthU, v, lengthV) {
  const corner = (x, y) => {
    const point = [...origin];
    point[u] += x;
    point[v] += y;
    return onPage(point);
  };
  return [corner(0, 0), corner(lengthU, 0), corner(lengthU, lengthV), corner(0, lengthV)];
}

// The three visible faces of a box: above, left, right.
export function faces({ lo, hi }) {
  const [x, y, z] = [0, 1, 2].map((d) => hi[d] - lo[d]);
  return {
    above: facet(lo, 1, y, 2, z),
    left: facet([lo[0], lo[1], hi[2]], 0, x, 1, y),
    right: facet([lo[0], hi[1], lo[2]], 0, x, 2, z),
  };
}

// Farther boxes first.
export function byDepth(p, q) {
  const depth = ({ lo, hi }) => lo[1] + hi[1] + lo[2] + hi[2] - lo[0] - hi[0];
  return depth(p.box) - depth(q.box);
}

function shaded(colour, factor) {
  const part = (at) => {
    const c = parseInt(colour.slice(at, at + 2), 16);
    const changed = factor > 1 ? c + (255 - c) * (factor - 1) : c * factor;
    return Math.round(Math.min(255, changed))
      .toString(16)
      .padStart(2, "0");
  };
  return `#${part(1)}${part(3)}${part(5)}`;
}

export function brick(box, colour, scaled, attributes = {}) {
  const sides = faces(box);
  const draw = (points, fill) => polygon(points.map(scaled), { fill, ...attributes });
  return (
    draw(sides.left, colour) + draw(sides.right, shaded(colour, 0.8)) + draw(sides.above, shaded(colour, 1.25))
  );
}

// The outline and the visible inner edges of a box.
export function frameOf(box, scaled, attributes) {
  return Object.values(faces(box))
    .map((points) => polygon(points.map(scaled), { fill: "none", ...attributes }))
    .join("");
}

// Whether a point of the page lies on a visible face of the box.
export function hides(box, [x, y]) {
  return Object.values(faces(box)).some((corners) => {
    const sides = corners.map(([ax, ay], n) => {
      const [bx, by] = corners[(n + 1) % corners.length];
      return (bx - ax) * (y - ay) - (by - ay) * (x - ax);
    });
    return sides.every((s) => s > -EDGE) || sides.every((s) => s < EDGE);
  });
}
