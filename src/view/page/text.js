// Numbers as a reader wants them.

export function withCommas(n) {
  return String(n).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

export function bytesText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit + 1 < units.length) {
    value /= 1024;
    ++unit;
  }
  const text = unit === 0 ? withCommas(value) : value.toFixed(value < 100 ? 1 : 0);
  return `${text} ${units[unit]}`;
}

// A text of at most `most` letters: a longer one ends in an ellipsis.
export function shortened(text, most) {
  return text.length <= most ? text : `${text.slice(0, Math.max(1, most - 1))}…`;
}

export function counted(n, singular) {
  return `${withCommas(n)} ${singular}${n === 1 ? "" : "s"}`;
}
