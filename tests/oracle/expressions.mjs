// The corpus of expressions: {"e": text, "s": scope, "v": value, "p": printed} or {"e", "s", "fails"}; "approx": the
// value counts within 4 ULP and the text not at all.
import { Random } from "./random.mjs";
import { scopes } from "./scopes.mjs";
import { Trees } from "./expression_trees.mjs";
import { evaluate } from "./oracle.mjs";
import * as tables from "./expression_tables.mjs";

const seed = 20240611;
const binary = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "in", "not in", "and", "or"];

function candidates(random) {
  const cases = [];
  /** keep: the share of failing cases that stay. */
  const add = (e, s = "plain", keep = 1) => cases.push({ e, s, keep });

  for (const op of binary) {
    for (const a of tables.operands) for (const b of tables.operands) add(`${a} ${op} ${b}`, "plain", 0.4);
  }
  for (const a of tables.operands) {
    for (const sign of ["-", "+", "not ", "not not ", "- - ", "-+-", "--"]) add(`${sign}${a}`);
    for (const test of tables.tests) for (const is of ["is", "is not"]) add(`${a} ${is} ${test}`, "plain", 0.6);
    for (const filter of tables.filters) add(`${a} | ${filter}`, "plain", 0.4);
    for (const access of tables.accesses) add(`${a}${access}`, "plain", 0.5);
    add(`${a} if ${random.pick(tables.operands)} else 'no'`);
    add(`'yes' if ${a} else 'no'`);
    add(`${a} if ${random.pick(tables.operands)}`);
    add(`[${a}] ~ ''`);
    add(`[${a}, ${a}] | join('-')`);
    add(`[${a}, 1, ${a}]`);
    add(`{'k': ${a}}`);
    add(`[${a}] == ${random.pick(tables.operands)}`);
    add(`${random.pick(tables.operands)} in [${a}, 1, 'ab']`, "plain", 0.3);
  }
  for (const first of binary) {
    for (const second of binary) {
      for (const [a, b, c] of [["7", "2", "3"], ["n", "half", "2"], ["s", "'b'", "xs"]]) add(`${a} ${first} ${b} ${second} ${c}`, "plain", 0.1);
    }
  }
  for (const op of binary) {
    for (const form of tables.precedenceForms) add(form.replaceAll("OP", op), "plain", 0.25);
  }
  for (const value of ["xs", "'abcdef'", "t", "[1, 2, 3, 4, 5]", "(1, 2, 3)", "none_list", "nested", "''", "accent"]) {
    for (const start of ["", "0", "1", "-2", "9", "-9", "undef"]) {
      for (const stop of ["", "2", "-1", "9", "0"]) {
        for (const step of ["", ":", ":2", ":-1", ":-2", ":0"]) {
          if (random.chance(0.22)) add(`${value}[${start}:${stop}${step}]`);
        }
      }
    }
  }
  for (const [values, names] of tables.applications) {
    for (const value of values) for (const name of names) add(`${value} | ${name}`);
  }
  for (const [e, s] of tables.handWritten) add(e, s);
  for (const e of tables.syntax) add(e);
  for (const e of tables.shapes) add(e, "shapes");
  for (const e of tables.numbers(random)) add(e);
  for (const e of tables.nested()) add(e);
  const trees = new Trees(random);
  for (let i = 0; i < 2600; ++i) add(trees.any(random.int(1, 5)), "plain", 0.5);
  for (let i = 0; i < 500; ++i) add(mutated(random, trees.any(random.int(1, 3))), "plain", 0.3);
  return cases;
}

/** One character more, less or changed. */
function mutated(random, text) {
  const at = random.int(0, text.length - 1);
  const c = random.pick(Array.from("()[]{}.,:|+-*/%~<>=!'\"0129ax _&$"));
  return random.pick([text.slice(0, at) + text.slice(at + 1), text.slice(0, at) + c + text.slice(at),
    text.slice(0, at) + c + text.slice(at + 1)]);
}

/** What `**` gives beyond exact integers differs between implementations in the last bits. */
function isApproximate(text, answer) {
  if (!text.includes("**")) return false;
  const [tag, value] = Array.isArray(answer.v) ? answer.v : [];
  return (tag === "i" || tag === "f") && !(Number.isInteger(Number(value)) && Math.abs(Number(value)) < 2 ** 53);
}

/** Texts of functions, and numbers that `**` made inexact inside other values, are not comparable. */
function isComparable(text, answer) {
  if (answer.fails) return true;
  const whole = JSON.stringify(answer);
  if (whole.includes("=>") || whole.includes("function") || (whole.includes('["fn"]') && whole !== '{"v":["fn"],"p":null}')) return false;
  if (!text.includes("**") || ["i", "f"].includes(answer.v?.[0])) return true;
  return !/\d\.\d{10,}|e[+-]\d/.test(whole);
}

export function expressionCorpus(jinja) {
  const random = new Random(seed);
  const lines = [];
  const seen = new Set();
  const uses = new Map();
  let failing = 0;
  for (const { e, s, keep } of candidates(random)) {
    const id = `${s} ${e}`;
    if (seen.has(id) || tables.excluded.some((pattern) => pattern.test(e))) continue;
    seen.add(id);
    let answer;
    try {
      answer = evaluate(jinja, e, scopes[s]);
    } catch {
      continue;
    }
    if (!isComparable(e, answer)) continue;
    if (answer.v?.[0] === "fn") answer.p = null;
    if (answer.fails) {
      if (!random.chance(keep)) continue;
      ++failing;
    } else {
      for (const [, name] of e.matchAll(/\|\s*([a-z]+)/g)) uses.set(`| ${name}`, (uses.get(`| ${name}`) ?? 0) + 1);
      for (const [, name] of e.matchAll(/\bis\s+(?:not\s+)?([a-z]+)/g)) uses.set(`is ${name}`, (uses.get(`is ${name}`) ?? 0) + 1);
    }
    const line = { e, s, ...answer };
    if (isApproximate(e, answer)) line.approx = true;
    lines.push(line);
  }
  const faults = [];
  const share = 1 - failing / lines.length;
  if (lines.length < 4000) faults.push(`only ${lines.length} expressions`);
  if (share < 0.6) faults.push(`only ${(100 * share).toFixed(1)}% succeed`);
  for (const name of tables.filterNames) if ((uses.get(`| ${name}`) ?? 0) < 10) faults.push(`filter ${name} succeeds ${uses.get(`| ${name}`) ?? 0} times`);
  for (const name of tables.tests) if (!["eq", "equalto"].includes(name) && (uses.get(`is ${name}`) ?? 0) < 10) faults.push(`test ${name} succeeds ${uses.get(`is ${name}`) ?? 0} times`);
  return {
    lines: [{ oracle: "@huggingface/jinja 0.5.11", seed, scopes }, ...lines],
    summary: `${lines.length} expressions, ${(100 * share).toFixed(1)}% succeed, seed ${seed}`,
    faults,
  };
}
