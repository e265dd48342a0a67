// Text of SVG elements. All pictures are made as text, in a browser and in Node alike.

export function escaped(text) {
  return String(text).replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);
}

// A number with at most two decimals.
export function short(number) {
  return String(Math.round(number * 100) / 100);
}

function attributeText(attributes) {
  return Object.entries(attributes)
    .filter(([, value]) => value !== undefined && value !== null && value !== false)
    .map(([name, value]) => ` ${name}="${typeof value === "number" ? short(value) : escaped(value)}"`)
    .join("");
}

// <name a="1">children</name>; children are SVG text.
export function element(name, attributes, children = "") {
  const inside = Array.isArray(children) ? children.join("") : children;
  const start = `<${name}${attributeText(attributes)}`;
  return inside === "" ? `${start}/>` : `${start}>${inside}</${name}>`;
}

export const group = (attributes, children) => element("g", attributes, children);

export function label(x, y, text, attributes = {}) {
  return element("text", { x, y, ...attributes }, escaped(text));
}

// A closed polygon through points [x, y].
export function polygon(points, attributes) {
  return element("path", { d: `M${points.map(([x, y]) => `${short(x)} ${short(y)}`).join("L")}Z`, ...attributes });
}

// A part of a picture: `content` fills the rectangle from (0, 0) to (width, height).
export function placed(part, x, y) {
  return group({ transform: `translate(${short(x)} ${short(y)})` }, part.content);
}
