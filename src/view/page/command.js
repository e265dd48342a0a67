// Writes one view as an SVG. Run by Node as: command.js DATA CHOICE STYLE, the last two as text.
import { readFileSync } from "node:fs";
import { stateOf, svgFile } from "./views.js";

const [file, choiceText, style] = process.argv.slice(2);
const data = JSON.parse(readFileSync(file, "utf8"));
const choice = JSON.parse(choiceText);
process.stdout.write(svgFile(data, stateOf(data, choice), choice.view, style));
